"""What a learner reads of their own error: their line, their frames, a bounded text."""

import json
import types

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ANY = st.text(st.characters())


def raised_by(source: str) -> BaseException:
    import mistakes

    try:
        exec(mistakes.compile_source(source, "submission.py"), {})
    except BaseException as error:  # noqa: BLE001
        return error
    raise AssertionError("nothing was raised")


def told(source: str) -> dict:
    import mistakes

    return mistakes.describe_mistake(raised_by(source), "submission.py")


def test_the_line_is_the_learners_deepest():
    assert told("def f():\n    return 1 / 0\n\n\nf()\n")["line"] == 2


def test_an_error_below_a_library_points_at_the_learners_line_and_shows_the_library():
    mistake = told("import json\n\njson.loads('{')\n")
    assert mistake["line"] == 3
    assert "json.loads('{')" in mistake["traceback"]
    assert 'File "json/decoder.py"' in mistake["traceback"]


def test_our_own_frames_are_left_out():
    assert __file__ not in told("x = 1 / 0\n")["traceback"]


def test_a_file_that_cannot_be_compiled_is_told_from_an_error_at_run_time():
    assert (told("def f(\n")["unreadable"], told("def f(\n")["line"]) == (True, 1)
    at_run_time = told("\neval('1 +')\n")
    assert (at_run_time["unreadable"], at_run_time["line"]) == (False, 2)


@pytest.mark.parametrize(
    ("source", "line"),
    [("x = 1\ny = '\x00'\n", 2), ("\n\ny = '\ud800'\n", 3), ("-" * 100_000 + "1", 1), ("(" * 500 + ")" * 500, 1)],
    ids=["a NUL byte", "half a surrogate pair", "too deep", "too many parentheses"],
)
def test_what_python_cannot_read_is_a_syntax_error_at_its_line(source, line):
    mistake = told(source)
    assert (mistake["type"], mistake["line"], mistake["unreadable"]) == ("SyntaxError", line, True)


def test_causes_are_kept_without_our_frames():
    text = told("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('no') from e\n")["traceback"]
    assert "ZeroDivisionError" in text
    assert "direct cause" in text
    assert __file__ not in text


def test_an_error_that_cannot_be_printed_is_still_told():
    mistake = told("class E(Exception):\n    def __str__(self):\n        return 1 / 0\nraise E\n")
    assert (mistake["type"], mistake["message"], mistake["line"]) == ("E", "", 4)


def test_a_cycle_of_causes_ends():
    source = "a, b = ValueError('a'), ValueError('b')\na.__cause__, b.__cause__ = b, a\nraise a\n"
    assert told(source)["message"] == "a"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(message=ANY, traceback=ANY, times=st.integers(1, 3000))
def test_a_mistake_never_takes_more_than_16_kib(message, traceback, times):
    import mistakes

    mistake = {
        "type": "E",
        "message": (message * times)[: mistakes.MESSAGE_CHARACTERS],
        "line": 1,
        "traceback": mistakes._shorten(traceback * times),
    }
    raw = mistakes.encode_mistake(mistake)
    assert len(raw) <= mistakes.MAX_BYTES
    assert json.loads(raw)["type"] == "E"


@pytest.mark.parametrize("character", ["\x00", "\U0001f600", "\ud800", "x"])
def test_the_longest_texts_of_every_width_fit(character):
    import mistakes

    mistake = {"type": "E", "message": character * 1000, "line": 1, "traceback": character * 6000}
    assert len(mistakes.encode_mistake(mistake)) <= mistakes.MAX_BYTES


LEARNERS = """
class Value:
    def __init__(self, data):
        self.data = data

    def backward(self, g):
        return 1 / self.data


def solve(x):
    return None


grad = 1
"""


def checked(probe: str) -> dict:
    """What is said of the error that a probe of this one expression or statement comes to."""
    import mistakes

    own: dict = {"__name__": "submission"}
    exec(mistakes.compile_source(LEARNERS, "submission.py"), own)
    submission = types.ModuleType("submission")
    submission.__dict__.update(own)
    try:
        exec(compile(probe, "probe.py", "exec"), {"submission": submission, "json": json})
    except Exception as error:  # noqa: BLE001
        return mistakes.describe_check(error, vars(submission), "submission.py")
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    ("probe", "check"),
    [
        ("\nsubmission.solve(1).shape", {"check": "stumbles", "check_line": 2}),
        ("submission.solve(1).grad", {"check": "stumbles", "check_line": 1}),
        ("[][0]", {"check": "stumbles", "check_line": 1}),
        ("import no_such_module", {"check": "stumbles", "check_line": 1}),
        (
            "if not submission.solve(1):\n    raise TypeError(\n        'x should be a number'\n    )",
            {"check": "says", "check_line": 2},
        ),
        ("submission.solver(1)", {"check": "misses"}),
        ("submission.Value(1).grad", {"check": "misses"}),
        ("submission.Value.walk", {"check": "misses"}),
        ("submission.solve(1, 2)", {"check": ""}),
        ("submission.Value(1).backward(1, retain=True)", {"check": ""}),
        ("submission.Value(1) + 1.0", {"check": ""}),
        ("submission.Value(0).backward(1)", {"check": ""}),
        ("json.loads('{')", {"check": ""}),
        ("raise RecursionError", {"check": ""}),
    ],
)
def test_an_error_that_the_learners_code_did_not_raise_is_told_from_one_that_it_did(probe, check):
    assert checked(probe) == check

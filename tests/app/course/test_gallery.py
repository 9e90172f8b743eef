"""The gallery: Python files that say in their docstring what to see."""

from pathlib import Path

import pytest

from app.course.gallery import Snippet, check_gallery, judge_snippet, read_snippet
from app.course.loader import load_course
from app.course.problems import Report, Rule
from graders.contract.results import Mistake, Outcome, RunEnd
from graders.contract.trace import Events, Trace

ROOT = Path(__file__).resolve().parents[3]
FIXTURE = ROOT / "tests" / "course"


def test_a_snippet_has_its_docstring_as_title_and_text_and_the_rest_as_code() -> None:
    text = '"""A title\n\nWhat to see,\nin two lines.\n"""\n\nx = 1\n'
    assert read_snippet("01-x", text) == Snippet("01-x", "A title", "What to see, in two lines.", "x = 1\n", 7)


@pytest.mark.parametrize("text", ["x = 1\n", "x = = 1\n", ""])
def test_a_file_without_a_docstring_goes_by_its_name(text: str) -> None:
    assert read_snippet("02-plain", text) == Snippet("02-plain", "02-plain", "", text)


def test_a_gallery_stands_in_the_order_of_its_file_names() -> None:
    gallery = load_course(FIXTURE)[0].gallery
    assert [(snippet.id, snippet.title) for snippet in gallery] == [
        ("01-two-ways", "Two ways to one loss"),
        ("02-plain", "One product"),
    ]


@pytest.mark.slow
def test_every_program_of_this_course_says_what_to_see() -> None:
    gallery = load_course(ROOT)[0].gallery
    assert len(gallery) == 10
    assert [snippet.id for snippet in gallery if not snippet.text] == []


GOOD = '"""Short title\n\nWatch this.\n"""\n\nimport torch\n'


@pytest.mark.parametrize(
    ("text", "line", "rule", "words"),
    [
        ("import torch\n", 1, "gallery", "does not say what to watch"),
        ('"""A title alone"""\nimport torch\n', 1, "gallery", "does not say what to watch"),
        (f'"""{"long " * 12}\n\nWatch.\n"""\n1\n', 1, "gallery", "the title has 59 letters"),
        (GOOD + "x = = 2\n", 7, "python-syntax", "does not parse"),
    ],
)
def test_what_is_wrong_with_a_text_is_told_at_its_line(text: str, line: int, rule: str, words: str) -> None:
    (found,) = check_gallery([read_snippet("01-a", text)])
    assert (found.path, found.line, found.rule) == ("gallery/01-a.py", line, rule)
    assert words in found.message
    assert check_gallery([read_snippet("01-a", GOOD)]) == []


def judge(text: str, result: RunEnd) -> list[tuple[int, str]]:
    report = Report("gallery/01-a.py")
    judge_snippet(read_snippet("01-a", text), result, report)
    return [(found.line, found.message) for found in report.problems]


RECORDED = Trace(events=Events.model_construct(kind=("record",)))
FAILED = RunEnd(
    outcome=Outcome.RUNTIME_ERROR,
    mistake=Mistake(type="RuntimeError", message="no", line=2, traceback=""),
    trace=RECORDED,
)


def test_a_program_has_to_record_a_tape() -> None:
    assert judge(GOOD, RunEnd(outcome=Outcome.OK, trace=RECORDED)) == []
    nothing = [(6, "there is no tape to step through: no step was recorded")]
    assert judge(GOOD, RunEnd(outcome=Outcome.OK)) == nothing
    assert judge(GOOD, RunEnd(outcome=Outcome.OK, trace=Trace())) == nothing


def test_an_error_is_meant_where_the_text_names_its_type() -> None:
    assert judge(GOOD, FAILED) == [(7, "the program ends with RuntimeError: no")]
    assert judge(GOOD.replace("Watch this", "Watch the RuntimeError"), FAILED) == []


def test_a_file_with_a_nul_byte_is_a_mistake_and_stops_nothing() -> None:
    snippet = read_snippet("broken", "x = 1\0\n")

    assert [problem.rule for problem in check_gallery([snippet])] == [Rule.PYTHON]

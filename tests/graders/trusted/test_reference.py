"""The reference process: draws, answers, and takes every failure as ours."""

import json
import os
import shutil
import signal
import socket
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from judging_parts import FIXTURES

from graders.trusted.exercise import load_exercise
from graders.trusted.faults import GraderFault
from graders.trusted.reference import TORCH_IMPORT_SECONDS, WALL_SECONDS, ReferenceRun, ReferenceServer
from graders.trusted.session import MAX_WALL_SECONDS, SessionEnded, send_message
from graders.trusted.wire import encode_answer


@pytest.fixture
def root(tmp_path) -> Path:
    shutil.copytree(FIXTURES / "scaling", tmp_path / "scaling")
    return tmp_path


def rewrite(root: Path, file: str, text: str) -> None:
    (root / "scaling" / file).write_text(text)


def fault(server: ReferenceServer, root: Path) -> str:
    with pytest.raises(GraderFault) as caught:
        server.prepare(load_exercise(root, "scaling"), 1)
    return str(caught.value)


def test_the_same_seed_draws_the_same_cases_and_another_one_others(reference):
    exercise = load_exercise(FIXTURES, "scaling")
    with (
        reference.prepare(exercise, 5) as one,
        reference.prepare(exercise, 5) as two,
        reference.prepare(exercise, 6) as three,
    ):
        assert one.cases == two.cases
        assert one.cases != three.cases


def test_a_solution_that_changes_its_inputs_leaves_a_diagnosis_with_those_that_the_learner_had(reference, root):
    rewrite(root, "probe.py", (FIXTURES / "scaling" / "probe.py").read_text().replace("list(case", "(case"))
    rewrite(root, "solution.py", "def scale(n, factor):\n    n[:] = [v * factor for v in n]\n    return list(n)\n")
    with reference.prepare(load_exercise(root, "scaling"), 1) as run:
        numbers = json.loads(run.cases[0].question.header)["plain"]["numbers"]
        assert run.diagnose(0, encode_answer({"scaled": numbers, "total": sum(numbers)})) == "unchanged"


def test_an_answer_that_comes_too_late_is_not_taken_for_the_answer_to_the_next_question():
    ours, theirs = socket.socketpair()
    ours.settimeout(0.0)  # every answer comes too late
    answer = encode_answer({"scaled": [1.0]})
    with theirs, ReferenceRun("scaling", ours, ()) as run:
        assert run.diagnose(0, answer) is None
        # An answer is in the socket now, where the session would still read from it.
        with suppress(SessionEnded):
            send_message(theirs, {"code": "late"})
        assert run.diagnose(1, answer) is None


def test_a_session_ends_by_itself_only_after_the_judge_has_given_up():
    """Otherwise a busy machine would end an examination, and the author would be told of an endless loop."""
    assert max(WALL_SECONDS, TORCH_IMPORT_SECONDS) < MAX_WALL_SECONDS


def test_a_solution_that_changes_inputs_that_are_to_stay_untouched_is_our_fault(reference, root):
    manifest = (FIXTURES / "scaling" / "exercise.toml").read_text()
    rewrite(root, "exercise.toml", manifest.replace('flavour = "plain"', 'flavour = "plain"\ninputs = "untouched"'))
    with reference.prepare(load_exercise(root, "scaling"), 1) as run:
        assert all(case.untouched for case in run.cases)
    rewrite(root, "probe.py", (FIXTURES / "scaling" / "probe.py").read_text().replace("list(case", "(case"))
    rewrite(root, "solution.py", "def scale(n, factor):\n    n[:] = [v * factor for v in n]\n    return list(n)\n")
    assert "changes the input 'numbers' of case '2 numbers'" in fault(reference, root)


def test_a_solution_that_raises_is_our_fault_told_with_file_and_line(reference, root):
    rewrite(root, "solution.py", "def scale(numbers, factor):\n    return numbers[99]\n")
    assert fault(reference, root) == "scaling: IndexError: list index out of range (solution.py, line 2)"


def test_what_a_solution_prints_is_not_the_workers_to_tell_and_what_it_complains_of_is(root, capfd):
    solution = (FIXTURES / "scaling" / "solution.py").read_text()
    rewrite(root, "solution.py", "import sys\nprint('of no use')\nprint('look here', file=sys.stderr)\n" + solution)
    server = ReferenceServer()
    try:
        server.prepare(load_exercise(root, "scaling"), 1).close()
    finally:
        server.close()
    told = capfd.readouterr()
    assert "look here" in told.err
    assert "of no use" not in told.out + told.err


def test_a_solution_that_answers_nan_is_our_fault(reference, root):
    rewrite(root, "solution.py", "def scale(numbers, factor):\n    return [float('nan') for n in numbers]\n")
    assert "NaN or infinity" in fault(reference, root)


def allow(root: Path, names: str) -> None:
    cases = (FIXTURES / "scaling" / "cases.py").read_text()
    rewrite(root, "cases.py", cases.replace('"slow": "too-slow",', f'"slow": "too-slow", "not_finite": {names},'))


def test_an_answer_may_be_infinite_where_its_case_says_so(reference, root):
    rewrite(root, "solution.py", "def scale(numbers, factor):\n    return [float('-inf') for n in numbers]\n")
    allow(root, '["scaled", "total"]')
    with reference.prepare(load_exercise(root, "scaling"), 1) as run:
        assert run.cases[0].expected.body == np.full(3, -np.inf).tobytes()
    allow(root, '["scaled"]')
    assert "NaN or infinity" in fault(reference, root)


def test_a_name_that_is_no_answer_cannot_be_infinite(reference, root):
    allow(root, '["scales"]')
    assert "not_finite names 'scales'; name an answer of probe.py, such as 'scaled'" in fault(reference, root)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("[]", "list of 1 to"),
        ("[{'name': 'a'}]", "not a dict with a dict 'inputs'"),
        ("[dict(name='a', idea='i', finding='not-scaled', public=1, inputs={})]", "case 'a': public is 1"),
        (
            "[dict(name='a', idea='i', finding='nope', public=True, inputs={})]",
            "finding 'nope' is not in exercise.toml",
        ),
        ("[dict(name='a', idea='i', finding='not-scaled', public=True, inputs={}, extra=1)]", "extra"),
    ],
)
def test_cases_that_are_none_are_told_to_their_author(reference, root, change, words):
    rewrite(root, "cases.py", f"def draw_cases(rng):\n    return {change}\n")
    assert words in fault(reference, root)


def test_a_solution_that_ends_the_process_is_our_fault_and_the_next_one_is_served(reference, root):
    rewrite(root, "solution.py", "import os\nos._exit(0)\n")
    assert "gave no cases" in fault(reference, root)
    with reference.prepare(load_exercise(FIXTURES, "scaling"), 1) as run:
        assert len(run.cases) == 3


def test_what_one_exercise_imports_is_gone_for_the_next(reference, root):
    rewrite(root, "solution.py", "import math\nmath.pi = 3\n" + (FIXTURES / "scaling" / "solution.py").read_text())
    with reference.prepare(load_exercise(root, "scaling"), 1):
        pass
    rewrite(
        root,
        "solution.py",
        "import math\nassert math.pi > 3.1\n" + (FIXTURES / "scaling" / "solution.py").read_text(),
    )
    with reference.prepare(load_exercise(root, "scaling"), 1) as run:
        assert len(run.cases) == 3


def test_a_reference_process_that_was_killed_is_started_again():
    server = ReferenceServer()
    exercise = load_exercise(FIXTURES, "scaling")
    try:
        with server.prepare(exercise, 1) as run:
            # The child of the server that answers us is its own process; its parent is the server.
            assert len(run.cases) == 3
        assert server.process_id is not None
        os.kill(server.process_id, signal.SIGKILL)
        with server.prepare(exercise, 1) as run:
            assert len(run.cases) == 3
    finally:
        server.close()


def test_it_inherits_nothing_of_the_workers_environment(reference, root, monkeypatch):
    monkeypatch.setenv("UNWIND_SECRET", "secret")
    text = "import os\nassert 'UNWIND_SECRET' not in os.environ\n"
    rewrite(root, "solution.py", text + (FIXTURES / "scaling" / "solution.py").read_text())
    server = ReferenceServer()
    try:
        with server.prepare(load_exercise(root, "scaling"), 1) as run:
            assert len(run.cases) == 3
    finally:
        server.close()

"""A mistake of an author in an exercise's programs is told with file and line, once, from many seeds."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from graders.contract.examination import Examination
from graders.trusted.drawn_cases import run_file
from graders.trusted.exercise import load_exercise
from graders.trusted.reference import ReferenceServer

EXERCISE = Path(__file__).resolve().parents[2] / "course" / "exercises" / "double"
INPUTS = '"inputs": {"x": public}'

MISTAKES = [
    # The file, what is replaced, by what; then the file and line of the one fault, and words of it and its remedy.
    ("solution.py", "x + x", "x + y", "solution.py", 2, "raises NameError", "fix the line"),
    ("solution.py", "x + x", "x / 0", "solution.py", 2, "raises ZeroDivisionError", "fix the line"),
    ("solution.py", "x + x", "float('nan')", "solution.py", 1, "NaN or infinity", "draw other inputs"),
    (
        "cases.py",
        INPUTS,
        f'"not_finite": ["doubl"], {INPUTS}',
        "cases.py",
        13,
        "names 'doubl', which probe does not answer",
        "did you mean 'double'?",
    ),
    (
        "cases.py",
        INPUTS,
        f'"labels": {{"doubl": {{"x": []}}}}, {INPUTS}',
        "cases.py",
        13,
        "has 'doubl', which probe does not answer",
        "did you mean 'double'?",
    ),
    (
        "cases.py",
        INPUTS,
        f'"labels": {{"double": {{"x": [2, 3]}}}}, {INPUTS}',
        "cases.py",
        13,
        "names 6 elements of 'double', which has 1",
        "[] is one element",
    ),
    (
        "solution.py",
        "x + x",
        "x + __import__('random').random()",
        "solution.py",
        1,
        "contradicts itself",
        "the case bring",
    ),
    ("solution.py", "def double", "def duoble", "solution.py", 1, "has no 'double'", "did you mean 'duoble'?"),
    ("solution.py", "def double", "def work_it_out", "solution.py", 1, "has no 'double'", "write `def double(...)`"),
    ("solution.py", "x + x", "__import__('os')._exit(0)", "solution.py", 1, "ended the process", "os._exit"),
    ("solution.py", "x + x", "__import__('sys').exit(0)", "solution.py", 1, "ended the process", "sys.exit"),
    (
        "solution.py",
        "def double",
        "import helper\ndef double",
        "solution.py",
        1,
        "No module named 'helper'",
        "put the code",
    ),
    ("probe.py", "return {", "return 1 / 0 and {", "probe.py", 2, "raises ZeroDivisionError", "fix the line"),
    (
        "probe.py",
        'float(submission.double(case["x"]))',
        '{"a": 1}',
        "probe.py",
        1,
        "is a dict",
        "return a dict of names to",
    ),
    ("probe.py", "return {", "{", "probe.py", 1, "probe returns None", "return a dict"),
    (
        "probe.py",
        'return {"double": float(submission.double(case["x"]))}',
        "return 2.0",
        "probe.py",
        1,
        "returns a float",
        "a dict",
    ),
    (
        "probe.py",
        'return {"double": float(submission.double(case["x"]))}',
        "return {}",
        "probe.py",
        1,
        "an empty dict",
        "a dict",
    ),
    ("probe.py", 'case["x"]', 'case["y"]', "probe.py", 2, "KeyError: 'y'", "fix the line"),
    ("probe.py", "def probe", "def prob", "probe.py", 1, "has no function 'probe'", "did you mean 'prob'?"),
    (
        "probe.py",
        "def probe",
        "import helper\ndef probe",
        "probe.py",
        1,
        "No module named 'helper'",
        "put the code here",
    ),
    (
        "cases.py",
        "def draw_cases",
        "def draw_case",
        "cases.py",
        4,
        "no function 'draw_cases'",
        "did you mean 'draw_case'?",
    ),
    (
        "cases.py",
        "def draw_cases",
        "def make",
        "cases.py",
        4,
        "no function 'draw_cases'",
        "write `def draw_cases(...)`",
    ),
    (
        "cases.py",
        "import random",
        "import random, helper",
        "cases.py",
        1,
        "No module named 'helper'",
        "put the code here",
    ),
    ("cases.py", "rng.randint(2, 9)", "rng.randnt(2, 9)", "cases.py", 5, "AttributeError", "fix the line"),
    ("cases.py", "hidden = ", "hidden = 1 / (rng.random() > 0.05) * ", "cases.py", 6, "of 300 seeds", "fix the line"),
    (
        "cases.py",
        "public = float",
        "rng = random.Random(3)\n    public = float",
        "cases.py",
        4,
        "the same cases for every one of 300",
        "draw",
    ),
    (
        "cases.py",
        INPUTS,
        INPUTS.replace("public", "__import__('numpy').int64(3)"),
        "cases.py",
        13,
        "numpy.int64",
        "int(n)",
    ),
    ("cases.py", INPUTS, INPUTS.replace("public", "{1, 2}"), "cases.py", 13, "(a set)", "plain numbers"),
    ("cases.py", INPUTS, INPUTS.replace("public", "float('nan')"), "cases.py", 13, "cannot be sent", "plain numbers"),
    ("cases.py", INPUTS, '"inputs": [public]', "cases.py", 4, "dict 'inputs'", "see docs"),
    (
        "cases.py",
        "any number",
        "a small number",
        "cases.py",
        17,
        "two cases are called 'a small number'",
        "a different name",
    ),
    (
        "cases.py",
        '"not-doubled",\n            "public": True',
        '"not-dubled",\n            "public": True',
        "cases.py",
        11,
        "case 'a small number': finding 'not-dubled'",
        "add [findings.not-dubled]",
    ),
    ("cases.py", '"public": True', '"public": 1', "cases.py", 20, "public is 1", ""),
    ("cases.py", '"public": True', '"public": False', "cases.py", 4, "no case is public", 'write `"public": True`'),
    (
        "cases.py",
        '            "shown": f"double({public})",\n',
        "",
        "cases.py",
        9,
        "has no 'shown'",
        "the input as text",
    ),
    ("cases.py", '"idea": "A number is doubled.",', "", "cases.py", 9, "has no 'idea'", "give it one"),
    ("cases.py", '"shown"', '"show"', "cases.py", 14, "has the key 'show'", "no case has that key"),
    ("cases.py", "return [", "return [][:0] and [", "cases.py", 4, "draw_cases returned list", "list of 1 to 64"),
    ("cases.py", "    return [", "    yield [", "cases.py", 4, "generator", "list of 1 to 64"),
]


def plant(root: Path, file: str, old: str, new: str) -> Path:
    folder = root / "double"
    shutil.copytree(EXERCISE, folder)
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    return folder


@pytest.fixture(scope="module")
def server() -> Iterator[ReferenceServer]:
    server = ReferenceServer()
    yield server
    server.close()


def examine(server: ReferenceServer, root: Path) -> Examination:
    return server.examine(load_exercise(root, "double"))


def test_an_exercise_without_a_mistake_has_no_fault(server: ReferenceServer, tmp_path: Path) -> None:
    plant(tmp_path, "solution.py", "x + x", "x * 2")

    assert examine(server, tmp_path) == Examination(faults=(), seeds=300, solved=300)


@pytest.mark.parametrize(
    ("file", "old", "new", "told", "line", "words", "remedy"), MISTAKES, ids=[repr(row[2])[:50] for row in MISTAKES]
)
def test_a_mistake_is_told_once_with_its_file_line_and_remedy(
    server: ReferenceServer,
    tmp_path: Path,
    file: str,
    old: str,
    new: str,
    told: str,
    line: int,
    words: str,
    remedy: str,
) -> None:
    plant(tmp_path, file, old, new)

    (fault,) = examine(server, tmp_path).faults

    assert (fault.file, fault.line) == (told, line)
    assert words in fault.message
    assert remedy in fault.remedy


DIAGNOSES = [
    ("return 1 / 0", 27, "diagnose raises for a wrong answer", "fix the line"),
    ('return "not-dubled"', 27, "diagnose returns 'not-dubled'", "did you mean 'not-doubled'?"),
    ("return got['dobule']", 27, "KeyError", "fix the line"),
]


@pytest.mark.parametrize(("body", "line", "words", "remedy"), DIAGNOSES)
def test_a_diagnose_that_fails_on_a_wrong_answer_is_told(
    server: ReferenceServer, tmp_path: Path, body: str, line: int, words: str, remedy: str
) -> None:
    folder = plant(tmp_path, "solution.py", "x + x", "x * 2")
    cases = folder / "cases.py"
    cases.write_text(f"{cases.read_text()}\n\ndef diagnose(inputs, got, expected):\n    {body}\n")

    (fault,) = examine(server, tmp_path).faults

    assert (fault.file, fault.line) == ("cases.py", line)
    assert words in fault.message
    assert remedy in fault.remedy


def test_draws_that_fail_once_in_a_hundred_are_found_though_the_first_fifty_hold(
    server: ReferenceServer, tmp_path: Path
) -> None:
    plant(tmp_path, "cases.py", "hidden = ", "hidden = 1 / (rng.random() > 0.01) * ")

    (fault,) = examine(server, tmp_path).faults

    assert (fault.file, fault.line) == ("cases.py", 6)
    first = int(fault.message.rpartition("such as ")[2])
    assert first >= 50


def test_answers_that_fail_once_in_a_hundred_are_found_though_the_first_fifty_hold(
    server: ReferenceServer, tmp_path: Path
) -> None:
    folder = plant(tmp_path, "solution.py", "x + x", "x + x / (not 16.0 < x < 17.0)")
    drawn = run_file(folder, "cases.py").draw_cases
    failing = [seed for seed in range(300) if 16.0 < drawn(random.Random(seed))[1]["inputs"]["x"] < 17.0]
    assert failing
    assert failing[0] >= 50

    (fault,) = examine(server, tmp_path).faults

    assert (fault.file, fault.line) == ("solution.py", 2)
    assert "ZeroDivisionError" in fault.message


@pytest.mark.slow
def test_an_exercise_that_draws_slowly_is_drawn_less_often(server: ReferenceServer, tmp_path: Path) -> None:
    slowly = "public = sum(range(4_000_000)) * 0.0 + float"
    plant(tmp_path, "cases.py", "public = float", slowly)

    found = examine(server, tmp_path)

    assert found.faults == ()
    assert 2 <= found.solved == found.seeds < 300


def test_a_tolerance_finer_than_the_numbers_is_told(server: ReferenceServer, tmp_path: Path) -> None:
    plant(tmp_path, "exercise.toml", "absolute = 1e-12", "absolute = 0.0")

    (fault,) = examine(server, tmp_path).faults

    assert (fault.file, fault.line) == ("exercise.toml", 0)
    assert "cannot be met" in fault.message
    assert fault.remedy == "write relative = 2e-15 or more"


def test_a_solution_that_changes_untouched_inputs_is_told(server: ReferenceServer, tmp_path: Path) -> None:
    folder = tmp_path / "row-means"
    shutil.copytree(Path(__file__).resolve().parents[1] / "fixtures" / "row-means", folder)
    shutil.copy(folder / "attempts" / "writes_into_x.py", folder / "solution.py")
    (fault,) = server.examine(load_exercise(tmp_path, "row-means")).faults
    assert (fault.file, fault.line, fault.remedy) == ("solution.py", 1, "work on a copy")
    assert "changes the input 'x' of case '2 rows'" in fault.message


def test_a_byte_order_mark_is_no_mistake(server: ReferenceServer, tmp_path: Path) -> None:
    folder = plant(tmp_path, "solution.py", "x + x", "x * 2")
    for name in ("exercise.toml", "solution.py", "cases.py", "probe.py"):
        (folder / name).write_bytes(b"\xef\xbb\xbf" + (folder / name).read_bytes())

    assert examine(server, tmp_path).faults == ()

"""An exercise proves itself: its starter fails, its solution passes, its limits leave room."""

import pytest

from .conftest import Desk


def test_a_starter_that_passes_is_reported(desk: Desk) -> None:
    (desk.root / "exercises/double/starter.py").write_text("def double(x):\n    return 2 * x\n")

    (found,) = desk.check()["problems"]

    assert (found["rule"], found["path"]) == ("exercise-proof", "exercises/double/starter.py")


def test_an_attempt_with_another_finding_is_reported_where_it_is_listed(desk: Desk) -> None:
    path = desk.root / "exercises/double/exercise.toml"
    path.write_text(path.read_text().replace('finding = "not-doubled"', 'finding = "other"'))

    (found,) = desk.check()["problems"]

    listed = next(n for n, line in enumerate(path.read_text().split("\n"), 1) if "unchanged.py" in line)
    assert (found["path"], found["line"]) == ("exercises/double/exercise.toml", listed)
    assert "should get wrong_answer with the finding 'other'" in found["message"]


def test_a_limit_with_no_room_above_the_solution_is_reported_where_it_is_set(desk: Desk) -> None:
    path = desk.root / "exercises/double/exercise.toml"
    path.write_text(path.read_text().replace("memory_mib = 256", "memory_mib = 100"))

    (found,) = desk.check(mode="hungry")["problems"]

    line = path.read_text().split("\n").index("memory_mib = 100") + 1
    assert (found["rule"], found["path"], found["line"]) == ("tight-limit", "exercises/double/exercise.toml", line)
    assert found["remedy"] == "allow at least 3 times as much: memory_mib = 128"


def test_a_number_of_checks_that_no_run_has_is_reported_where_it_is_said(desk: Desk) -> None:
    path = desk.root / "exercises/double/exercise.toml"
    path.write_text(path.read_text().replace("public = 1\n", "public = 3\n"))

    (found,) = desk.check()["problems"]

    line = path.read_text().split("\n").index("public = 3") + 1
    assert (found["rule"], found["path"], found["line"]) == ("checks", "exercises/double/exercise.toml", line)
    assert found["remedy"].startswith("write public = 1 and hidden = 1")


def test_a_mutant_that_passes_is_reported_and_one_that_is_caught_is_not(desk: Desk) -> None:
    mutants = desk.root / "exercises/double/mutants"
    mutants.mkdir()
    (mutants / "adds_nothing.py").write_text("def double(x):\n    return x\n")
    (mutants / "multiplies.py").write_text("def double(x):\n    return x * 2\n")

    (found,) = desk.check()["problems"]

    assert (found["rule"], found["path"]) == ("exercise-proof", "exercises/double/mutants/multiplies.py")


def test_an_exercise_that_needs_a_meter_is_left_out_in_words_where_there_is_none(desk: Desk) -> None:
    manifest = desk.root / "exercises" / "double" / "exercise.toml"
    manifest.write_text(manifest.read_text().replace('flavour = "plain"', 'flavour = "plain"\nmemory_meter = true'))

    said = desk.check()

    assert (said["status"], said["waiting_for_meter"]) == (0, ["double"])
    assert not any(name.startswith("exercises/double") for name in said["timings"]["run_seconds"])


def test_a_mistake_in_an_exercises_programs_is_a_problem_once_and_no_fault(desk: Desk) -> None:
    cases = desk.root / "exercises/double/cases.py"
    cases.write_text(cases.read_text().replace("rng.randint", "rng.randnt"))

    said = desk.check()

    assert (said["status"], said["faults"]) == (1, [])
    assert [(found["path"], found["line"], found["rule"]) for found in said["problems"]] == [
        ("exercises/double/cases.py", 5, "exercise-code")
    ]


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("solution.py", b"def double(x)\n    return 2 * x\n", 1),
        ("solution.py", "# zwölf\n".encode("latin-1"), 1),
        ("exercise.toml", "# zwölf\n".encode("latin-1"), 1),
        ("probe.py", None, 1),
    ],
)
def test_a_file_that_cannot_be_read_is_a_problem_once_and_nothing_is_graded_with_it(
    desk: Desk, file: str, text: bytes | None, line: int
) -> None:
    path = desk.root / "exercises/double" / file
    if text is None:
        path.unlink()
    else:
        path.write_bytes(text + path.read_bytes())

    said = desk.check()

    assert (said["status"], said["faults"], said["ran"]) == (1, [], 0)
    assert [(found["path"], found["line"]) for found in said["problems"]] == [(f"exercises/double/{file}", line)]

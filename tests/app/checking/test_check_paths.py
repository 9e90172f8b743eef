"""A check of a part: which paths and names it takes, and what it says of the others."""

import io
import sys
from pathlib import Path

import pytest

from app.check import main

from .conftest import HERE, Desk


def test_only_the_part_that_was_asked_for_is_checked(desk: Desk) -> None:
    (desk.root / "exercises/double/starter.py").write_text("def double(x):\n    return 2 * x\n")

    assert desk.check("--only", "chapters/sums")["status"] == 0
    assert desk.check("--only", "exercises/double")["status"] == 1


def test_a_path_inside_a_course_means_that_part_of_it(desk: Desk) -> None:
    out = io.StringIO()

    status = main([str(desk.chapter)], [sys.executable, str(HERE / "fake_graders.py"), "", ""], out)

    assert status == 0
    assert "known" in out.getvalue()


def test_a_folder_without_a_course_is_reported(tmp_path: Path) -> None:
    out = io.StringIO()

    status = main([str(tmp_path)], [], out)

    assert status == 1
    assert "course.toml" in out.getvalue()


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        (["--only", "chapters/sum"], "did you mean chapters/sums"),
        (["--only", "chapters/sums/chaptr.md"], "did you mean chapters/sums/chapter.md"),
        (["--only", "exercises/duoble"], "did you mean exercises/double"),
        (["--only", "zzz"], "name a chapter's or an exercise's folder"),
        (["--only", "/etc"], "name a chapter's or an exercise's folder"),
        (["--only", "chapters/sums", "--only", "chapters/typo"], "chapters/typo is not in the course"),
    ],
)
def test_a_name_that_the_course_does_not_have_checks_nothing_and_names_the_nearest(
    desk: Desk, capsys: pytest.CaptureFixture[str], asked: list[str], near: str
) -> None:
    out = io.StringIO()

    status = main([str(desk.root), *asked], [], out)

    assert (status, out.getvalue()) == (2, "")
    assert near in capsys.readouterr().err


def test_a_path_that_is_not_there_checks_nothing(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    statuses = [main([str(desk.root / name)], []) for name in ("chapters/sum", "chapters/sums/chapter.mdx")]
    statuses.append(main(["/nowhere/at/all"], []))

    said = capsys.readouterr().err
    assert statuses == [2, 2, 2]
    assert "did you mean chapters/sums" in said
    assert "/nowhere/at/all does not exist" in said

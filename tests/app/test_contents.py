"""The two tables of what a course holds."""

import io
import shutil
from pathlib import Path

import pytest

from app.contents import estimate_minutes, main
from app.course.block_tree import Box, Reveal
from app.course.blocks import Cell, Predict, Prose, Where
from graders.contract.jobs import Flavour

COURSE = Path(__file__).resolve().parents[1] / "course"


def test_chapters_and_exercises_are_counted():
    out = io.StringIO()
    assert main(["--course", str(COURSE)], out) == 0
    lines = out.getvalue().splitlines()
    first = next(line for line in lines if line.startswith("| 1.1 "))
    head = [cell.strip() for cell in lines[0].strip("|").split("|")]
    row = dict(zip(head, (cell.strip() for cell in first.strip("|").split("|")), strict=True))
    assert int(row["words"]) > 50
    assert int(row["claims"]) >= 1
    assert "choice" in row["questions by kind"]
    assert any(line.startswith("| double ") for line in lines)
    assert lines[-1].startswith("2 of 3 chapters, ")


def test_pages_without_a_number_are_counted_apart(tmp_path: Path):
    root = Path(shutil.copytree(COURSE, tmp_path / "course"))
    text = (root / "course.toml").read_text()
    (root / "course.toml").write_text(text.replace("number = 1", "numbered = false"))
    out = io.StringIO()
    assert main(["--course", str(root)], out) == 0
    lines = out.getvalue().splitlines()
    assert any(line.startswith("| A first graph |") for line in lines)
    assert lines[-1].startswith("0 of 1 chapters and 2 pages beside them, ")


def test_a_course_with_mistakes_is_told_and_counted_as_far_as_it_goes(tmp_path: Path, capsys):
    out = io.StringIO()
    assert main(["--course", str(tmp_path)], out) == 1
    assert "course.toml" in capsys.readouterr().err


WHERE = Where("chapters/one/chapter.md", 1)
CELL = Cell("first", "print(1)", "", "", False, True, Flavour.PLAIN, "1\n", WHERE)
PREDICT = Predict("guess", "", (), "first", "", WHERE, "")


@pytest.mark.parametrize(
    ("blocks", "minutes"),
    [
        ((Prose("<p>" + "word " * 400 + "</p>"),), 2.0),
        ((CELL, PREDICT), 2.5),
        ((Box("careful", "", (CELL,)),), 1.0),
        ((Reveal("fold", "More", "", (CELL, PREDICT)),), 0.0),
    ],
)
def test_minutes_are_estimated_from_what_is_not_folded(blocks, minutes):
    assert estimate_minutes(blocks) == minutes

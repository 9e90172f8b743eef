"""One mistake at a time, as an author meets it: told once, at its file and line, and the check exits with 1."""

import io
import json
from pathlib import Path
from typing import Any

import planted_mistakes as planted
import pytest
from planted_mistakes import Row
from test_broken_course import PLANTED
from test_strange_mistakes import CHAPTER, MISTAKES, write_course

from app.check import main

MISTAKE_ROWS = [
    row
    for table in (
        planted.VANISHES_OR_SHOWS_RAW,
        planted.CANNOT_BE_ANSWERED,
        planted.HOLDS_NO_MORE,
        planted.COURSE_FILE,
        planted.EXERCISE_FILE,
        planted.BLOCKS,
    )
    for row in table
]


ALWAYS_ADVISED = ("concept-without-variant", "few-right-answers")
"""What the small course is told without any mistake."""


def check(root: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    out = io.StringIO()
    status = main([str(root), "--text", "--json", *arguments], [], out)
    return status, json.loads(out.getvalue())


def plant(root: Path, row: Row) -> tuple[str, int, str]:
    """Writes the course with the mistake; returns where it has to be told."""
    file, old, new, path, line, rule = row
    write_course(root, CHAPTER)
    text = (root / file).read_text()
    assert old in text
    (root / file).write_text(text.replace(old, new, 1) if old else new + text)
    return path or file, line, rule


def name_row(row: Row) -> str:
    return f"{row[5]} {row[2][:40]!r}"


@pytest.mark.parametrize("row", MISTAKE_ROWS, ids=map(name_row, MISTAKE_ROWS))
def test_a_mistake_is_told_once_at_its_line_and_the_check_fails(tmp_path: Path, row: Row) -> None:
    wanted = plant(tmp_path, row)

    status, said = check(tmp_path)

    assert [(found["path"], found["line"], found["rule"]) for found in said["problems"]] == [wanted]
    assert (status, said["faults"]) == (1, [])


def test_an_exercise_that_keeps_fewer_than_four_right_answers_is_advised_to_keep_more(tmp_path: Path) -> None:
    write_course(tmp_path, CHAPTER)
    manifest = tmp_path / planted.MANIFEST
    told = []
    for number in range(5):
        told.append([found for found in check(tmp_path)[1]["advice"] if found["rule"] == "few-right-answers"])
        (manifest.parent / "attempts" / f"right{number}.py").write_text("def double(x):\n    return x + x\n")
        with manifest.open("a") as file:
            file.write(f'\n[[attempts]]\nfile = "right{number}.py"\noutcome = "passed"\nwhy = "Adds."\n')

    assert [[(found["path"], found["message"]) for found in each] for each in told] == [
        *(
            [(planted.MANIFEST, f"right answers among the attempts: {right}, where at least 4 are wanted")]
            for right in range(4)
        ),
        [],
    ]


@pytest.mark.parametrize("row", planted.ADVICE, ids=map(name_row, planted.ADVICE))
def test_advice_is_told_and_fails_only_a_strict_check(tmp_path: Path, row: Row) -> None:
    wanted = plant(tmp_path, row)

    status, said = check(tmp_path)

    told = [found for found in said["advice"] if found["rule"] not in ALWAYS_ADVISED]
    assert [(found["path"], found["line"], found["rule"]) for found in told] == [wanted]
    assert (status, said["problems"]) == (0, [])
    assert check(tmp_path, "--strict")[0] == 1


@pytest.mark.parametrize(("name", "content", "line"), planted.PICTURES, ids=[row[0] for row in planted.PICTURES])
def test_a_picture_that_no_browser_can_show_is_told(tmp_path: Path, name: str, content: bytes, line: int) -> None:
    write_course(tmp_path, CHAPTER.replace(planted.LINK, f"![A picture](figures/{name})"))
    (tmp_path / planted.FIGURES).mkdir()
    (tmp_path / planted.FIGURES / name).write_bytes(content)

    status, said = check(tmp_path)

    assert [(found["path"], found["line"], found["rule"]) for found in said["problems"]] == [
        (f"{planted.FIGURES}/{name}", line, "picture")
    ]
    assert status == 1


@pytest.mark.parametrize("name", ["figures/orphan.svg", "traces/orphan.json"])
def test_a_file_that_no_block_uses_is_advice(tmp_path: Path, name: str) -> None:
    write_course(tmp_path, CHAPTER)
    path = tmp_path / "chapters" / "sums" / name
    path.parent.mkdir()
    path.write_text('<svg xmlns="http://www.w3.org/2000/svg"/>' if name.endswith("svg") else "{}")

    status, said = check(tmp_path)

    assert [found["path"] for found in said["advice"] if found["rule"] == "unused-file"] == [f"chapters/sums/{name}"]
    assert (status, said["problems"]) == (0, [])


@pytest.mark.parametrize(
    "text",
    [
        ":value: 0.001\n:tolerance: 0",
        ":value: 0.125\n:tolerance: 0",
        ":value: 2.5\n:tolerance: 0",
        ":value: 1024\n:tolerance: 0",
        ":value: 2.3026\n:tolerance: 0.0001",
    ],
)
def test_a_number_that_can_be_typed_is_no_mistake(tmp_path: Path, text: str) -> None:
    write_course(tmp_path, CHAPTER.replace(":value: 2\n:tolerance: 0.5", text))

    assert check(tmp_path)[0] == 0


@pytest.mark.parametrize("accept", ["`a|b`", "MulBackward0", "x.grad", "leaf | leaf node", "y = f(x)", "50 %"])
def test_an_answer_that_is_meant_as_it_stands_is_no_mistake(tmp_path: Path, accept: str) -> None:
    question = f":kind: text\n:accept: {accept}\n"
    write_course(tmp_path, CHAPTER.replace(":kind: number\n", question).replace(":value: 2\n:tolerance: 0.5\n", ""))

    assert check(tmp_path)[1]["problems"] == []


def test_the_tables_hold_at_least_two_hundred_mistakes() -> None:
    rows = len(MISTAKE_ROWS) + len(planted.ADVICE) + len(planted.PICTURES) + len(MISTAKES) + len(PLANTED)

    assert rows >= 200

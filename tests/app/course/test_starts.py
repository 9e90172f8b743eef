"""course.toml says where different readers begin; what cannot be opened is reported at its line or left out."""

from pathlib import Path

import pytest

from app.course.loader import CourseReader
from app.course.model import Start

COURSE = """format = 1
title = "T"
tagline = "t"

[[starts]]
reader = "From zero"
to = "one"
why = "Because."

[[starts]]
reader = "In trouble"
to = "{to}"

[concepts]
c = "C"

[[modules]]
id = "m"
number = 1
title = "M"
summary = "s"

[[modules.chapters]]
slug = "one"

[[modules.chapters]]
slug = "planned"
title = "P"
"""
CHAPTER = "---\ntitle: One\nsubtitle: S\nminutes: 1\nobjectives: [o]\nconcepts: [c]\n---\n\nWords.\n"
GUIDE = """format = 1
title = "Debugging"
summary = "s"
[[steps]]
id = "only"
cause = "C"
look = "L"
"""


def read(folder: Path, to: str, *, guide: bool) -> tuple[tuple[Start, ...], list[tuple[int, str]]]:
    (folder / "chapters" / "one").mkdir(parents=True)
    (folder / "course.toml").write_text(COURSE.format(to=to))
    (folder / "chapters" / "one" / "chapter.md").write_text(CHAPTER)
    if guide:
        (folder / "debugging.toml").write_text(GUIDE)
    loaded = CourseReader(folder).read()
    told = [(one.line, one.message) for one in loaded.problems if one.path == "course.toml"]
    return loaded.course.starts, told


def test_readers_begin_with_a_chapter_or_with_the_guide(tmp_path: Path) -> None:
    starts, told = read(tmp_path, "debugging", guide=True)

    assert starts == (
        Start("From zero", "Because.", "/chapters/one", "1.1 One"),
        Start("In trouble", "", "/debugging", "Debugging"),
    )
    assert told == []


@pytest.mark.parametrize(
    ("to", "message"),
    [
        ("no-such", "no chapter is called 'no-such'"),
        ("planned", "the chapter 'planned' is planned"),
        ("debugging", "the course has no debugging guide to start with"),
    ],
)
def test_what_cannot_be_opened_is_reported_at_its_entry_and_left_out(tmp_path: Path, to: str, message: str) -> None:
    starts, told = read(tmp_path, to, guide=False)

    assert [start.reader for start in starts] == ["From zero"]
    assert [line for line, _ in told] == [11]
    assert message in told[0][1]

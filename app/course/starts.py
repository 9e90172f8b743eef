"""Where different readers begin, as course.toml says it."""

from collections.abc import Iterable, Sequence

from app.course.course_file import StartEntry
from app.course.language.prose import Link
from app.course.language.toml_file import find_line
from app.course.model import Chapter, Start
from app.course.problems import Report, Rule

DEBUGGING = "debugging"


def link_starts(entries: Sequence[StartEntry], text: str) -> tuple[Link, ...]:
    """The entries that name a chapter as links, to be checked like those of any text."""
    return tuple(
        Link(find_line(text, entry.reader), entry.to, chapter=entry.to) for entry in entries if entry.to != DEBUGGING
    )


def check_starts(entries: Sequence[StartEntry], text: str, report: Report, *, has_guide: bool) -> None:
    for entry in entries:
        if entry.to == DEBUGGING and not has_guide:
            message = "the course has no debugging guide to start with"
            report.add(
                find_line(text, entry.reader), Rule.DEAD_LINK, DEBUGGING, message, "write debugging.toml first"
            )


def find_starts(entries: Sequence[StartEntry], chapters: Iterable[Chapter], guide_title: str) -> tuple[Start, ...]:
    """What readers see. An entry whose chapter is not written, or a draft, is left out."""
    written = {chapter.slug: chapter for chapter in chapters if not chapter.draft}
    starts = []
    for entry in entries:
        if entry.to == DEBUGGING and guide_title:
            starts.append(Start(entry.reader, entry.why, f"/{DEBUGGING}", guide_title))
        elif (chapter := written.get(entry.to)) is not None:
            words = f"{chapter.number} {chapter.title}".strip()
            starts.append(Start(entry.reader, entry.why, f"/chapters/{chapter.slug}", words))
    return tuple(starts)

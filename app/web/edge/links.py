"""Links to a course's chapters and exercises."""

from collections.abc import Mapping

from app.course.model import Chapter, Course
from app.storage.records import Reading
from app.web.edge.frame import Link


def link_to(chapter: Chapter, anchor: str = "") -> Link:
    return Link(f"/chapters/{chapter.slug}" + (f"#{anchor}" if anchor else ""), chapter.title, chapter.number)


def find_resume(course: Course, readings: Mapping[str, Reading]) -> Link | None:
    """Where a learner continues: the place they left, or the next unread chapter once they have finished that one.

    `readings` are by chapter, the one read last first. A chapter that no longer exists is skipped.
    """
    last = next((chapter for slug in readings if (chapter := course.index.by_slug.get(slug))), None)
    if last is None:
        return None
    if readings[last.slug].finished_at is None:
        return link_to(last, readings[last.slug].anchor)
    position = course.chapters.index(last)
    in_turn = course.chapters[position + 1 :] + course.chapters[:position]
    unread = next((chapter for chapter in in_turn if not _is_finished(readings, chapter)), None)
    return link_to(unread or last, readings[unread.slug].anchor if unread and unread.slug in readings else "")


def _is_finished(readings: Mapping[str, Reading], chapter: Chapter) -> bool:
    return chapter.slug in readings and readings[chapter.slug].finished_at is not None

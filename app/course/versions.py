"""What a version of the course has, in brief, and what changed from one version to another. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from app.course.model import Chapter, Course
from app.course.spots import hash_writing


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ChapterBrief(_Frozen):
    """`blocks` has the hash of what is written in each block, `items` that of each prediction and question."""

    title: str
    blocks: dict[str, str]
    items: dict[str, str]


class ExerciseBrief(_Frozen):
    """`digest` is of the files that judge; `wording` of what the learner reads."""

    title: str
    digest: str
    wording: str


class CourseBrief(_Frozen):
    """`content` is the course's own hash of what it says. `rest` is of the glossary, the guide and the drills."""

    title: str
    content: str
    chapters: dict[str, ChapterBrief]
    exercises: dict[str, ExerciseBrief]
    rest: str


@dataclass(frozen=True)
class Change:
    """One line for the operator: what it is about, and what became of it."""

    title: str
    words: str
    path: str = ""
    """Of the chapter or exercise as the new version has it; empty if it has none."""


def brief_course(course: Course, digests: Mapping[str, str]) -> CourseBrief:
    """`digests` are those of the exercises' judging files, by name."""
    return CourseBrief(
        title=course.title,
        content=course.version,
        chapters={chapter.slug: _brief_chapter(chapter) for chapter in course.chapters},
        exercises={
            name: ExerciseBrief(
                title=exercise.manifest.title,
                digest=digests[name],
                wording=hash_writing((exercise.prompt, exercise.hints, exercise.starter)),
            )
            for name, exercise in sorted(course.exercises.items())
        },
        rest=hash_writing((course.glossary, course.debugging, tuple(drill.digest for drill in course.drills))),
    )


def _brief_chapter(chapter: Chapter) -> ChapterBrief:
    asked = (*chapter.index.predicts.values(), *chapter.index.questions.values())
    title = f"{chapter.number} {chapter.title}".strip()
    return ChapterBrief(title=title, blocks=dict(chapter.hashes), items={one.id: one.content_hash for one in asked})


def compare(before: CourseBrief, after: CourseBrief) -> tuple[Change, ...]:
    """What is different in `after`, chapters first; nothing if the two read and judge the same."""
    changes: list[Change] = []
    for slug in (*after.chapters, *(before.chapters.keys() - after.chapters.keys())):
        old, new = before.chapters.get(slug), after.chapters.get(slug)
        if words := _say_chapter(old, new):
            changes.append(Change(_title(old, new, slug), words, f"chapters/{slug}" if new else ""))
    for name in sorted(before.exercises.keys() | after.exercises.keys()):
        found = before.exercises.get(name), after.exercises.get(name)
        if words := _say_exercise(*found):
            path = f"exercises/{name}" if found[1] else ""
            changes.append(Change(f"Exercise: {_title(*found, name)}", words, path))
    if before.rest != after.rest:
        changes.append(Change("Glossary, debugging guide and drills", "changed"))
    return tuple(changes)


def _title(old: ChapterBrief | ExerciseBrief | None, new: ChapterBrief | ExerciseBrief | None, name: str) -> str:
    known = new or old
    return known.title if known else name


def _say_chapter(old: ChapterBrief | None, new: ChapterBrief | None) -> str:
    if old is None or new is None:
        return "new" if old is None else "gone"
    # A key that only moved has the same hash elsewhere, so blocks are compared by what is written in them.
    there, here = set(old.blocks.values()), set(new.blocks.values())
    items = sorted(name for name in old.items.keys() | new.items.keys() if old.items.get(name) != new.items.get(name))
    parts = [
        f"{count} {'block' if count == 1 else 'blocks'} {words}"
        for count, words in ((len(here - there), "new or changed"), (len(there - here), "gone or changed"))
        if count
    ]
    if items:
        parts.append(f"questions and predictions that changed: {', '.join(items)}")
    if not parts and (old.blocks, old.title) != (new.blocks, new.title):
        parts.append("in another order, or under another title")
    return "; ".join(parts)


def _say_exercise(old: ExerciseBrief | None, new: ExerciseBrief | None) -> str:
    if old is None or new is None:
        return "new" if old is None else "gone"
    parts = []
    if old.digest != new.digest:
        parts.append("is judged by other files; consider a regrade")
    if (old.wording, old.title) != (new.wording, new.title):
        parts.append("reads differently")
    return "; ".join(parts)

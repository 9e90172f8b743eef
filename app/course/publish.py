"""What learners see of a course: drafts are left out, and stand on the map as planned. Pure."""

from dataclasses import replace

from app.course.model import Chapter, Course, Module, PlannedChapter


def without_drafts(course: Course) -> Course:
    """The course with each draft chapter as a planned one, and without its draft exercises."""
    return replace(
        course,
        modules=tuple(replace(module, chapters=_published(module)) for module in course.modules),
        exercises={name: found for name, found in course.exercises.items() if not found.manifest.draft},
    )


def _published(module: Module) -> tuple[Chapter | PlannedChapter, ...]:
    return tuple(
        PlannedChapter(entry.number, entry.ordinal, entry.title)
        if isinstance(entry, Chapter) and entry.draft
        else entry
        for entry in module.chapters
    )


def list_drafts(course: Course) -> tuple[str, ...]:
    """The files that say of themselves that they are drafts."""
    chapters = [chapter.where.path for chapter in course.chapters if chapter.draft]
    exercises = [
        f"exercises/{name}/exercise.toml" for name, found in course.exercises.items() if found.manifest.draft
    ]
    return (*chapters, *sorted(exercises))

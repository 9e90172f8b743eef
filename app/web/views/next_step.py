"""What to do after a pass: an exercise on the same concepts, else another of the chapter, else the next chapter."""

from collections.abc import Iterator, Mapping

from app.course.model import Course
from app.web.edge.frame import Link
from app.web.edge.links import link_to
from app.web.views.alike import rank_alike
from app.web.views.presenting import ExerciseProgress

BANK = Link("/problems", "choose another exercise")


def find_next_step(course: Course, exercise: str, progress: Mapping[str, ExerciseProgress]) -> Link:
    """One suggestion, never a list, because a learner who has just passed should not have to choose."""
    following = next((name for name in _list_candidates(course, exercise) if not _has_passed(progress, name)), None)
    if following is not None:
        return Link(f"/exercises/{following}", course.exercises[following].manifest.title)
    offering = course.index.offering.get(exercise, ())
    if not offering:
        return BANK
    later = course.chapters[course.chapters.index(offering[-1]) + 1 :]
    return link_to(later[0]) if later else BANK


def _list_candidates(course: Course, exercise: str) -> Iterator[str]:
    """Those that share a concept, then the others of its chapters.

    None that only a later chapter offers: it would ask for what the learner has not read yet.
    """
    offering = course.index.offering
    chapters = offering.get(exercise, ())
    read = course.chapters[: course.chapters.index(chapters[-1]) + 1] if chapters else course.chapters
    for name in rank_alike(course, exercise):
        offers = offering.get(name, ())
        if not offers or offers[0] in read:
            yield name
    yield from (name for chapter in chapters for name in chapter.index.exercises if name != exercise)


def _has_passed(progress: Mapping[str, ExerciseProgress], name: str) -> bool:
    return name in progress and progress[name].passed

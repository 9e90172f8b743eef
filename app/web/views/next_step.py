"""What to do after a pass: another exercise of the chapter, else the next chapter, else the bank. No I/O."""

from collections.abc import Mapping

from app.course.model import Course
from app.web.edge.frame import Link
from app.web.edge.links import link_to
from app.web.views.presenting import ExerciseProgress

BANK = Link("/problems", "choose another exercise")


def find_next_step(course: Course, exercise: str, progress: Mapping[str, ExerciseProgress]) -> Link:
    """One suggestion, never a list, because a learner who has just passed should not have to choose."""
    offering = course.index.offering.get(exercise, ())
    offered = (name for chapter in offering for name in chapter.index.exercises)
    open_here = (name for name in offered if name != exercise and not _has_passed(progress, name))
    following = next(open_here, None)
    if following is not None:
        return Link(f"/exercises/{following}", course.exercises[following].manifest.title)
    if not offering:
        return BANK
    later = course.chapters[course.chapters.index(offering[-1]) + 1 :]
    return link_to(later[0]) if later else BANK


def _has_passed(progress: Mapping[str, ExerciseProgress], name: str) -> bool:
    return name in progress and progress[name].passed

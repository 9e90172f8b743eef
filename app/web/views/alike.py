"""Which exercises are like another one: how much they share of what they practise, then how hard they are. No I/O."""

from collections.abc import Sequence

from app.course.model import Course, Exercise
from graders.contract.manifest import Difficulty

HARDER = tuple(Difficulty)


def rank_alike(course: Course, exercise: str) -> Sequence[str]:
    """The other exercises that share a concept with this one, the most alike first.

    Of two that share as much, the one whose difficulty is nearer comes first, then one of the same kind, then the one
    whose minutes are nearer.
    """
    this = course.exercises[exercise]
    found = (
        other for other in course.exercises.values() if other.name != exercise and share_of_concepts(this, other)
    )
    return [other.name for other in sorted(found, key=lambda other: _distance(this, other))]


def share_of_concepts(one: Exercise, two: Exercise) -> float:
    """How much of what either practises is practised by both, from 0 to 1 (the Jaccard index)."""
    first, second = set(one.manifest.concepts), set(two.manifest.concepts)
    return len(first & second) / max(1, len(first | second))


def _distance(one: Exercise, two: Exercise) -> tuple[float, int, bool, int, str]:
    a, b = one.manifest, two.manifest
    return (
        -share_of_concepts(one, two),
        abs(HARDER.index(a.difficulty) - HARDER.index(b.difficulty)),
        a.kind != b.kind,
        abs(a.minutes - b.minutes),
        two.name,
    )

"""The ranking of a lab in which programs that pass differ in memory: one's own bests, and those of one's sections.

Others have no name here, and appear only once enough of them have passed that no number says whose it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo

from app.course.model import Exercise
from app.storage.rankings import SectionBests
from app.web.views.presenting_results import show_moment
from graders.contract.results import Verdict
from graders.ledger import Submission

MIN_OTHERS = 3
MAX_ROWS = 10


@dataclass(frozen=True)
class OwnBest:
    """A submission that passed, and the share of the bounds that it held."""

    name: str
    href: str
    share: str


@dataclass(frozen=True)
class RankRow:
    """A line of a section's ranking. Equal shares have equal numbers."""

    number: int
    is_own: bool
    share: str


@dataclass(frozen=True)
class SectionRanking:
    """`places` is empty while fewer than MIN_OTHERS others have passed. `note` says so, or who is left out."""

    title: str
    places: tuple[RankRow, ...]
    note: str


@dataclass(frozen=True)
class RankingView:
    own: tuple[OwnBest, ...]
    sections: tuple[SectionRanking, ...]


def show_ranking(
    exercise: Exercise, history: Sequence[Submission], sections: Sequence[SectionBests], zone: tzinfo = UTC
) -> RankingView | None:
    """The ranking, or None for an exercise without one. `history` is newest first; `zone` is the reader's."""
    if not exercise.manifest.ranking:
        return None
    return RankingView(_list_own(exercise, history, zone), tuple(map(_rank, sections)))


def _list_own(exercise: Exercise, history: Sequence[Submission], zone: tzinfo) -> tuple[OwnBest, ...]:
    """The best ones first; among equals, the first that was sent."""
    passed = [
        (each.result.held_share, number, each)
        for number, each in enumerate(reversed(history), 1)
        if isinstance(each.result, Verdict) and each.result.held_share is not None
    ]
    return tuple(
        OwnBest(
            name=f"number {number}, {show_moment(each.submitted_at, zone)}",
            href=f"/exercises/{exercise.name}/submissions/{each.id}",
            share=_write(share),
        )
        for share, number, each in sorted(passed, key=lambda one: one[:2])[:MAX_ROWS]
    )


def _rank(section: SectionBests) -> SectionRanking:
    if len(section.others) < MIN_OTHERS:
        note = f"the others' bests are listed here once at least {MIN_OTHERS} of them have passed."
        return SectionRanking(section.title, (), note)
    own = [] if section.own is None else [(_round(section.own), True)]
    # Sorting is stable, so the reader comes first among equals.
    everybody = sorted([*own, *((_round(share), False) for share in section.others)], key=lambda one: one[0])
    shares = [share for share, _ in everybody]
    places = [RankRow(shares.index(share) + 1, is_own, _write(share)) for share, is_own in everybody]
    shown = tuple(place for row, place in enumerate(places) if row < MAX_ROWS or place.is_own)
    left = len(places) - len(shown)
    return SectionRanking(section.title, shown, f"{left} more passed." if left else "")


def _round(share: float) -> float:
    """As finely as it is written, so that what reads the same has the same place."""
    return round(share, 3)


def _write(share: float) -> str:
    return f"{100 * _round(share):.1f} %"

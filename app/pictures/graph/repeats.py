"""Find runs of a repeated pattern in a sequence of numbers: a program's loops, recognised in its trace."""

from collections.abc import Sequence
from dataclasses import dataclass

_MAX_PERIOD = 256
_CANDIDATES = 8
_COMPARISONS = 4_000_000
"""After this many comparisons the rest stays unfolded, so that a forged sequence cannot cost minutes of work."""


@dataclass(frozen=True, slots=True)
class Run:
    """`times` copies of `period` items, from `start` on."""

    start: int
    period: int
    times: int

    @property
    def stop(self) -> int:
        return self.start + self.period * self.times


def find_runs(signs: Sequence[int], crossings: Sequence[int], fewest: Sequence[int]) -> list[Run]:
    """Runs from left to right, the shortest period first; equal items have equal signs.

    `crossings` says how many values are alive just before each item. A run is rotated so that an iteration begins
    where the fewest are, as a loop's body does. `fewest` is how many copies of a single item are worth a fold.
    """
    after = _next_occurrences(signs)
    runs: list[Run] = []
    budget = _COMPARISONS
    place = 0
    while place < len(signs) and budget > 0:
        found: Run | None = None
        for period in _candidates(after, place):
            length = _matching_length(signs, place, period)
            budget -= length + 1
            if length // period + 1 >= (fewest[place] if period == 1 else 3):
                found = _turn(crossings, place, period, length)
                break
        if found is None:
            place += 1
        else:
            runs.append(found)
            place = found.stop
    return runs


def _next_occurrences(signs: Sequence[int]) -> list[int]:
    seen: dict[int, int] = {}
    after = [-1] * len(signs)
    for place in range(len(signs) - 1, -1, -1):
        after[place] = seen.get(signs[place], -1)
        seen[signs[place]] = place
    return after


def _candidates(after: list[int], place: int) -> list[int]:
    periods: list[int] = []
    later = after[place]
    while later != -1 and later - place <= _MAX_PERIOD and len(periods) < _CANDIDATES:
        periods.append(later - place)
        later = after[later]
    return periods


def _matching_length(signs: Sequence[int], place: int, period: int) -> int:
    ahead = place + period
    while ahead < len(signs) and signs[ahead] == signs[ahead - period]:
        ahead += 1
    return ahead - period - place


def _turn(crossings: Sequence[int], place: int, period: int, length: int) -> Run:
    # Count in the second copy: before the first, the loop's initial values are alive instead of the values that one
    # iteration passes to the next.
    turn = min(range(period), key=lambda turn: (crossings[place + period + turn], turn))
    times = (length + period - turn) // period
    return Run(place + turn, period, times) if times > 1 else Run(place, period, length // period + 1)

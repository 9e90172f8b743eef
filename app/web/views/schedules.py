"""What a program asked of a metered machine, as the judge counted it: a picture, a sentence, and a table."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from app.pictures.drawing.schedule import Held, Walk, draw_schedule, read_walk
from app.web.views.result_views import LayerRow, ScheduleView
from graders.contract.chart import HELD
from graders.contract.results import Measure, Schedule

MAX_RANGES = 6
"""How many stretches of steps a row of the table lists."""


def show_schedule(schedule: Schedule | None, measures: Sequence[Measure]) -> ScheduleView | None:
    """None for a case that is not on a metered machine, or whose program asked nothing of it."""
    if schedule is None or not schedule.kind:
        return None
    walk = read_walk(schedule)
    budget = next((measure.most for measure in measures if measure.name == HELD), None)
    words = _say(walk)
    return ScheduleView(
        svg=draw_schedule(walk, budget, words),
        words=words,
        cut=f"Only the first {len(schedule.kind):,} of {schedule.calls:,} calls are drawn."
        if schedule.calls > len(schedule.kind)
        else "",
        rows=_list_layers(walk),
    )


def _say(walk: Walk) -> str:
    kinds = Counter(step.kind for step in walk.steps)
    again = f"{kinds['again']:,}" if kinds["again"] else "none"
    most = max((step.held for step in walk.steps), default=0)
    when = next((place for place, step in enumerate(walk.steps, 1) if step.held == most), 0)
    return (
        f"{_count(len(walk.steps), 'step')}: {_count(kinds['forward'] + kinds['again'], 'run')} of a layer forward, "
        f"{again} of them again, and {_count(kinds['vjp'], 'pull-back')}. "
        f"Most is held after step {when:,}: {_count(most, 'unit')}."
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _list_layers(walk: Walk) -> tuple[LayerRow, ...]:
    """One row for each layer, from the last to the first, as in the picture."""
    states = {layer: list(group) for layer, group in groupby(walk.states, key=lambda state: state.layer)}
    return tuple(
        LayerRow(
            layer,
            sum(step.kind in ("forward", "again") and step.layer == layer for step in walk.steps),
            ", ".join(f"{n:,}" for n, step in enumerate(walk.steps, 1) if step.kind == "vjp" and step.layer == layer),
            _write_ranges(states.get(layer, [])),
        )
        for layer in reversed(range(walk.layers))
    )


def _write_ranges(states: list[Held]) -> str:
    said = [f"{max(1, state.first):,} to {max(1, state.last):,}" for state in states[:MAX_RANGES]]
    more = len(states) - MAX_RANGES
    return ", ".join(said) + (f" and {_count(more, 'more time')}" if more > 0 else "")

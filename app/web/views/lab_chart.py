"""The chart of memory against recomputing: known plans, the budgets, and this learner's submissions.

Every number of a learner's comes from a verdict. A number that the learner's own process reported is drawn and
labelled as such, and never makes a personal best.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Any

from app.course.model import Exercise
from app.web.views.presenting_results import show_moment
from graders.contract.chart import FORWARDS, HELD, Chart
from graders.contract.results import Measure, MeasuredBy, Outcome, Verdict
from graders.ledger import Submission

MARGIN = 1.08
"""Budget lines extend a little beyond the outermost point."""


# Plans and learners' points differ in size and filling, so that both show when they coincide.
MARKERS = {
    "plans": {"symbol": "circle-open", "size": 15, "line": {"width": 2}},
    "best known": {"symbol": "square-open", "size": 17, "line": {"width": 2}},
    "yours": {"symbol": "x", "size": 8},
    "your best": {"symbol": "diamond", "size": 10},
}
DASHED = {"dash": "dash", "width": 1.5}


@dataclass(frozen=True)
class ChartRow:
    """A point of the chart in words. `href` leads to a submission; `mark` is "best known", "your best" or empty."""

    name: str
    href: str
    forwards: str
    held: str
    kept: bool
    """Whether it is within the budgets."""
    mark: str = ""


@dataclass(frozen=True)
class ChartView:
    """`figure` is Plotly's JSON. `best` says the personal best in words, or that there is none yet."""

    figure: str
    alt: str
    case: str
    budgets: str
    best: str
    rows: tuple[ChartRow, ...]
    reported: bool
    """Whether the learner's own program counted the forward steps."""


@dataclass(frozen=True)
class _Try:
    """The numbers of a submission with right answers; if it has not passed, it is over a budget."""

    number: int
    submission: Submission
    forwards: float
    held: float
    passed: bool
    reported: bool

    def beats(self, other: "_Try") -> bool:
        """Whether this one is no worse in any number that counts and better in at least one.

        A number that the learner's process reports does not count.
        """
        mine, theirs = self.counted(), other.counted()
        return mine != theirs and all(one <= two for one, two in zip(mine, theirs, strict=True))

    def counted(self) -> tuple[float, ...]:
        return (self.held,) if self.reported else (self.forwards, self.held)


def show_chart(exercise: Exercise, history: Sequence[Submission], zone: tzinfo = UTC) -> ChartView | None:
    """The chart, or None for an exercise without one. `history` is newest first; `zone` is the reader's."""
    chart = exercise.manifest.chart
    if chart is None:
        return None
    tries = tuple(_read_tries(chart, history))
    best = frozenset(each.number for each in _find_best(tries))
    return ChartView(
        figure=json.dumps(_draw(chart, tries, best)),
        alt=f"Forward steps across, units held upwards, in the case {chart.case}; the table has the same points.",
        case=chart.case,
        budgets=_write_budgets(chart),
        best=_write_best(tries, best),
        rows=(*_show_plans(chart), *(_show_try(exercise, chart, each, best, zone) for each in tries)),
        reported=any(each.reported for each in tries),
    )


def _read_tries(chart: Chart, history: Sequence[Submission]) -> Iterator[_Try]:
    for place, submission in enumerate(history):
        verdict = submission.result
        if not isinstance(verdict, Verdict) or verdict.outcome not in (Outcome.PASSED, Outcome.OVER_BUDGET):
            continue
        case = next((case for case in verdict.cases if case.name == chart.case and case.public), None)
        found = {measure.name: measure for measure in case.measures} if case else {}
        forwards, held = found.get(FORWARDS), found.get(HELD)
        if forwards is None or held is None or _is_reported(held):
            continue
        yield _Try(
            number=len(history) - place,
            submission=submission,
            forwards=forwards.value,
            held=held.value,
            passed=verdict.outcome is Outcome.PASSED,
            reported=_is_reported(forwards),
        )


def _is_reported(measure: Measure) -> bool:
    return measure.measured_by is MeasuredBy.LEARNER_PROCESS


def _find_best(tries: Sequence[_Try]) -> tuple[_Try, ...]:
    """The passed submissions that no other beats; among equals, the first that was sent."""
    passed = [each for each in reversed(tries) if each.passed]
    unbeaten = [each for each in passed if not any(other.beats(each) for other in passed)]
    first = {each.counted(): each for each in reversed(unbeaten)}
    return tuple(first.values())


def _show_plans(chart: Chart) -> Iterator[ChartRow]:
    for plan in chart.plans:
        kept = _is_within(plan.forwards, chart.most_forwards) and _is_within(plan.held, chart.most_held)
        mark = "best known" if plan.best else ""
        yield ChartRow(plan.name, "", _write(plan.forwards), _write(plan.held), kept, mark)


def _show_try(exercise: Exercise, chart: Chart, each: _Try, best: frozenset[int], zone: tzinfo) -> ChartRow:
    return ChartRow(
        name=f"yours, number {each.number}, {show_moment(each.submission.submitted_at, zone)}",
        href=f"/exercises/{exercise.name}/submissions/{each.submission.id}",
        forwards=_write(each.forwards),
        held=_write(each.held),
        kept=_is_within(each.forwards, chart.most_forwards) and _is_within(each.held, chart.most_held),
        mark="your best" if each.number in best else "",
    )


def _is_within(value: float, most: float | None) -> bool:
    return most is None or value <= most


def _write(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")


def _write_budgets(chart: Chart) -> str:
    budgets = ((chart.most_held, "{} units held at once"), (chart.most_forwards, "{} forward steps"))
    said = [words.format(_write(most)) for most, words in budgets if most is not None]
    return "at most " + " and ".join(said) if said else ""


def _write_best(tries: Sequence[_Try], best: frozenset[int]) -> str:
    mine = sorted((each for each in tries if each.number in best), key=lambda each: each.forwards)
    if not mine:
        return "" if not tries else "None of yours has passed yet."
    points = "; ".join(
        f"{_write(each.held)} units held" + ("" if each.reported else f" with {_write(each.forwards)} forward steps")
        for each in mine
    )
    return f"Your best: {points}."


def _draw(chart: Chart, tries: Sequence[_Try], best: frozenset[int]) -> dict[str, Any]:
    """The figure, with its traces in the order in which the page assigns colours and shapes."""
    naive = [(plan.name, plan.forwards, plan.held) for plan in chart.plans if not plan.best]
    known = [(plan.name, plan.forwards, plan.held) for plan in chart.plans if plan.best]
    mine = [(f"number {each.number}", each.forwards, each.held) for each in tries if each.number not in best]
    mine_best = [(f"number {each.number}", each.forwards, each.held) for each in tries if each.number in best]
    groups = (("plans", naive), ("best known", known), ("yours", mine), ("your best", mine_best))
    traces = [_points(name, points) for name, points in groups]
    everything = [point for _, points in groups for point in points]
    layout = {
        "xaxis": {"title": {"text": "forward steps"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "units held at once"}, "rangemode": "tozero"},
        "showlegend": True,
        "frame": {"height": 440, "legend": {"orientation": "h", "y": -0.36, "yanchor": "top"}},
    }
    return {"data": [*traces, *_budget_lines(chart, everything)], "layout": layout}


def _points(name: str, points: Sequence[tuple[str, float, float]]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "marker": MARKERS[name],
        "showlegend": bool(points),
        "x": [x for _, x, _ in points],
        "y": [y for *_, y in points],
        "text": [label for label, *_ in points],
        "hovertemplate": "%{text}<br>%{x} forward steps, %{y} held<extra></extra>",
    }


def _budget_lines(chart: Chart, points: Sequence[tuple[str, float, float]]) -> Iterator[dict[str, Any]]:
    right = MARGIN * max([x for _, x, _ in points] + [chart.most_forwards or 0])
    top = MARGIN * max([y for *_, y in points] + [chart.most_held or 0])
    lines = (
        ("budget: held", chart.most_held, [0, right], [chart.most_held] * 2),
        ("budget: steps", chart.most_forwards, [chart.most_forwards] * 2, [0, top]),
    )
    for name, most, x, y in lines:
        if most is not None:
            yield {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "x": x,
                "y": y,
                "hoverinfo": "name",
                "line": DASHED,
            }

"""A measured table as a Plotly figure in plain data: what to draw, without colours, which the page adds."""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from math import ceil, floor, log10
from typing import Any

Column = Sequence[bool | int | float | str | None]

LINES_FROM = 2
"""A line needs at least two points."""

MAX_MARKS = 9
SMALLEST_IN_FULL, LARGEST_IN_FULL = 1e-4, 1e12
"""Beyond these a mark is written as a power of ten."""

MAX_TITLE = 30
"""How many letters fit along an axis."""


def draw_chart(
    kind: str,
    x: str,
    y: Sequence[str],
    columns: Mapping[str, Column],
    log: Sequence[str],
    y_title: str = "",
    series: str = "",
) -> dict[str, Any]:
    """Traces and axes of a line, bar or scatter chart of `y` over `x`; columns that are missing are left out.

    Without `y_title` the axis is called by the words that its columns share. With `series`, each value of that column
    has a trace of its own, named "gain 0.5".
    """
    shown = [name for name in y if name in columns]
    traces = [
        trace for name in shown for trace in _traces(kind, name, columns.get(x, ()), columns[name], columns, series)
    ]
    across = {"title": {"text": say_column(x)}, "type": _scale("x", columns.get(x, ()), log, kind)}
    up = {
        "title": {"text": y_title or _say_together(shown)},
        "type": "log" if "y" in log else "linear",
    }
    if "x" in log:
        across |= _mark_decades(columns.get(x, ()))
    if "y" in log:
        up |= _mark_decades([value for name in shown for value in columns[name]])
    layout = {"xaxis": across, "yaxis": up, "showlegend": len(traces) > 1}
    return {"data": traces, "layout": layout}


def say_column(name: str) -> str:
    """A column as a reader sees it. In the author's code it is often a keyword, with underscores."""
    return name.replace("_", " ")


def _say_together(names: Sequence[str]) -> str:
    """The words that several columns share, as the title of their axis: "ms" for "slow_ms" and "fast_ms"."""
    words = [say_column(name).split() for name in names]
    last = _shared_start([line[::-1] for line in words])[::-1]
    together = " ".join(last or _shared_start(words)) or ", ".join(map(say_column, names))
    return together if len(together) <= MAX_TITLE else ""


def _shared_start(lines: list[list[str]]) -> list[str]:
    return [group[0] for group in takewhile(lambda group: len(set(group)) == 1, zip(*lines, strict=False))]


def _mark_decades(values: Column) -> dict[str, Any]:
    """Marks at 1, 2 and 5 of each decade; at 1 alone, or of some decades, if there are many. Plotly's own overlap."""
    above_zero = [float(value) for value in values if not isinstance(value, str) and value is not None and value > 0]
    if not above_zero:
        return {}
    low, high = min(above_zero), max(above_zero)
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    marks = [float(f"{digit}e{decade}") for decade in decades for digit in (1, 2, 5)]
    near = [mark for mark in marks if low / 1.3 <= mark <= high * 1.3]
    if len(near) > MAX_MARKS:
        near = [mark for mark in near if f"{mark:e}".startswith("1.")]
    # Over very many decades a mark at each would be unreadable too: then every second, third, ... one has it.
    shown = near[:: ceil(len(near) / MAX_MARKS)]
    return {"tickmode": "array", "tickvals": shown, "ticktext": [_say_mark(mark) for mark in shown]}


def _say_mark(mark: float) -> str:
    if not SMALLEST_IN_FULL <= mark < LARGEST_IN_FULL:
        return f"1e{round(log10(mark))}" if f"{mark:e}".startswith("1.") else f"{mark:.0e}"
    for size, letter in ((1e9, "G"), (1e6, "M")):
        if mark >= size:
            return f"{mark / size:g}{letter}"
    return f"{mark:,g}"


def _scale(axis: str, values: Column, log: Sequence[str], kind: str) -> str:
    if axis in log:
        return "log"
    return "category" if kind == "bar" or any(isinstance(value, str) for value in values) else "linear"


def _traces(
    kind: str, name: str, x: Column, y: Column, columns: Mapping[str, Column], series: str
) -> list[dict[str, Any]]:
    if series not in columns:
        return [_trace(kind, name, list(x), list(y))]
    by_value: dict[Any, list[tuple[Any, Any]]] = {}
    for value, across, up in zip(columns[series], x, y, strict=False):
        by_value.setdefault(value, []).append((across, up))
    return [
        _trace(kind, f"{series} {value}", [across for across, _ in points], [up for _, up in points])
        for value, points in by_value.items()
    ]


def _trace(kind: str, name: str, x: list[Any], y: list[Any]) -> dict[str, Any]:
    if kind == "bar":
        return {"type": "bar", "name": say_column(name), "x": x, "y": y}
    lines = kind == "line" and len(x) >= LINES_FROM
    return {
        "type": "scatter",
        "mode": "lines+markers" if lines else "markers",
        "name": say_column(name),
        "x": x,
        "y": y,
    }

"""A measured table as a Plotly figure in plain data: what to draw, and no colours, which are the page's."""

from collections.abc import Mapping, Sequence
from typing import Any

Column = Sequence[bool | int | float | str | None]

LINES_FROM = 2
"""A line needs two points to be one."""


def draw_chart(
    kind: str, x: str, y: Sequence[str], columns: Mapping[str, Column], log: Sequence[str]
) -> dict[str, Any]:
    """Traces and axes of a line, bar or scatter chart of `y` over `x`; columns that are missing are left out."""
    shown = [name for name in y if name in columns]
    traces = [_trace(kind, name, list(columns.get(x, ())), list(columns[name])) for name in shown]
    layout = {
        "xaxis": {"title": {"text": x}, "type": _scale("x", columns.get(x, ()), log, kind)},
        "yaxis": {"title": {"text": shown[0] if len(shown) == 1 else ""}, "type": "log" if "y" in log else "linear"},
        "showlegend": len(shown) > 1,
    }
    return {"data": traces, "layout": layout}


def _scale(axis: str, values: Column, log: Sequence[str], kind: str) -> str:
    if axis in log:
        return "log"
    return "category" if kind == "bar" or any(isinstance(value, str) for value in values) else "linear"


def _trace(kind: str, name: str, x: list[Any], y: list[Any]) -> dict[str, Any]:
    if kind == "bar":
        return {"type": "bar", "name": name, "x": x, "y": y}
    lines = kind == "line" and len(x) >= LINES_FROM
    return {"type": "scatter", "mode": "lines+markers" if lines else "markers", "name": name, "x": x, "y": y}

"""Measurements on a page: the committed one, or the one that the reader's run has just taken. No I/O."""

import itertools
import json
from collections.abc import Mapping
from dataclasses import replace

from app.course.blocks import Chart, Cuts, Measure, Measurement, Value
from app.course.questions.draw_values import show_value
from app.course.questions.variant_check import read_table
from app.pictures.drawing.chart import draw_chart, say_column
from app.web.views import blocks as views
from graders.contract.results import Outcome, RunEnd

Columns = Mapping[str, tuple[Value | None, ...]]

NOT_MEASURED = "This has not been measured yet; run the code to measure it here."


def show_measure(block: Measure, cell: views.CellView) -> views.MeasurementView:
    """The committed measurement, with the machine that it was taken on."""
    found = block.committed
    view = _show(block, cell, found.columns if found else None)
    return view if found is None else _with_place(view, found)


def show_live_measure(block: Measure, cell: views.CellView, end: RunEnd) -> views.MeasurementView | None:
    """The result of a run on this server; None if it failed or produced no table."""
    columns = read_table(end.stdout) if end.outcome is Outcome.OK else "it failed"
    return None if isinstance(columns, str) else replace(_show(block, cell, columns), live=True)


def _show(block: Measure, cell: views.CellView, columns: Columns | None) -> views.MeasurementView:
    plan = block.chart
    wanted = columns is not None and plan.kind is not Chart.NONE
    log = [axis.value for axis in plan.log]
    figure = draw_chart(plan.kind.value, plan.x, plan.y, columns or {}, log, plan.y_title, plan.series)
    return views.MeasurementView(
        id=block.id,
        anchor=block.id,
        caption=block.cell.caption,
        alt=plan.alt,
        table=None if columns is None else _table(columns),
        figure=json.dumps(figure) if wanted else "",
        # The measurement has the anchor, because the cell is inside it.
        cell=replace(cell, anchor=f"{block.id}-code", caption=""),
        problem=NOT_MEASURED if columns is None else "",
        cuts=_show_cuts(block.cuts) if block.cuts else None,
        sliders=block.sliders,
        agrees_with=block.agrees_with,
    )


def _show_cuts(cuts: Cuts) -> views.CutsView:
    edges = (0, *cuts.places, cuts.layers)
    segments = (tuple(range(start + 1, end + 1)) for start, end in itertools.pairwise(edges))
    return views.CutsView(cuts.name, cuts.layers, tuple(segments))


def _with_place(view: views.MeasurementView, found: Measurement) -> views.MeasurementView:
    return replace(
        view,
        torch=found.torch,
        device=found.device,
        machine=found.machine,
        python=found.python,
        measured_on=found.measured_on,
        stale=found.stale,
    )


def _table(columns: Columns) -> views.TableView:
    numeric = tuple(all(_is_number(value) for value in column) for column in columns.values())
    rows = zip(*(map(_show_cell, column) for column in columns.values()), strict=True)
    return views.TableView(tuple(map(say_column, columns)), numeric, tuple(rows))


def _is_number(value: Value | None) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _show_cell(value: Value | None) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "–" if value is None else show_value(value)

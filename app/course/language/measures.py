"""Builds measurements: code that produces a table, the chart drawn from it, and what a reader moves beside it."""

import itertools
import re

from app.course.blocks import Cell, Chart, ChartPlan, Cuts, Measure
from app.course.language.code import highlight
from app.course.language.code_blocks import check_python, find_setup, split_code
from app.course.language.directive_specs import MeasureOptions
from app.course.language.draft import Draft
from app.course.language.options import read_options
from app.course.language.sliders import read_sliders
from app.course.language.tree import Directive
from app.course.problems import Rule


def build_measure(directive: Directive, name: str, draft: Draft) -> Measure | None:
    fence = directive.fence
    options = read_options(fence, MeasureOptions, draft.report)
    code = split_code(directive)
    check_python(code.before, code.line, fence, draft)
    if code.after is not None:
        remedy = "remove the `---` line and what follows: the check measures and writes the output itself"
        draft.report.add(code.after_line - 1, Rule.MISSING_PART, "---", "a {measure} has no expected output", remedy)
    if options is None:
        return None
    _check_chart(directive, options, draft)
    cell = Cell(
        id=name,
        source=code.before,
        setup=find_setup(options.setup, fence, draft) if options.setup else "",
        caption=draft.prose.inline(options.caption, fence.line_of("caption")),
        graph=False,
        editable=not options.readonly,
        flavour=options.flavour,
        expected=None,
        where=draft.where(fence.line),
        html=highlight(code.before),
        code_line=code.line,
        needs=options.needs,
        tabulates=True,
    )
    draft.measures[name] = cell
    plan = ChartPlan(options.chart, options.x, options.y, options.log, options.alt, options.y_title, options.series)
    cuts = _read_cuts(directive, options, code.before, draft)
    sliders = read_sliders(directive, options, code.before, draft)
    where, other = draft.where(fence.line), options.agrees_with
    return Measure(name, cell, plan, options.exact, where, other, cuts=cuts, sliders=sliders)


def _check_chart(directive: Directive, options: MeasureOptions, draft: Draft) -> None:
    fence = directive.fence
    if options.chart is not Chart.NONE:
        for option, value in (("x", options.x), ("y", options.y)):
            if not value:
                message = f"a {options.chart} chart needs the option :{option}:"
                remedy = f"write `:{option}:` and names of columns of `result`"
                draft.report.add(fence.line, Rule.MISSING_OPTION, option, message, remedy)
        if options.series and len(options.y) != 1:
            message = f"lines by {options.series!r} need one column in :y:, not {len(options.y)}"
            remedy = "write one column, or leave out `:series:`"
            draft.report.add(fence.line_of("series"), Rule.OPTION_VALUE, options.series, message, remedy)
        return
    for given in fence.options:
        if given.name in ("x", "y", "y-title", "log", "series"):
            message = f":{given.name}: has no effect without a chart"
            draft.report.add(
                given.line, Rule.OPTION_VALUE, given.value, message, "write `:chart: line`, bar or scatter"
            )


def _read_cuts(directive: Directive, options: MeasureOptions, source: str, draft: Draft) -> Cuts | None:
    """The list that the strip of cuts rewrites, as written in the code."""
    if not options.cuts and not options.layers:
        return None
    fence = directive.fence
    line = fence.line_of("cuts", "layers")
    for option, given, sample in (("cuts", options.cuts, "boundaries"), ("layers", options.layers, 24)):
        if not given:
            message = f"a strip of cuts needs the option :{option}:"
            draft.report.add(line, Rule.MISSING_OPTION, option, message, f"write `:{option}: {sample}`")
            return None
    if options.readonly:
        message = "a reader cannot move cuts in read-only code"
        draft.report.add(line, Rule.OPTION_VALUE, "readonly", message, "remove `:readonly:` or `:cuts:`")
    lists = re.findall(rf"^{re.escape(options.cuts)} = \[([\d\s,]*)\]$", source, re.MULTILINE)
    places = tuple(int(number) for number in re.findall(r"\d+", lists[0])) if lists else ()
    edges = [0, *places, options.layers]
    if len(lists) != 1 or any(one >= other for one, other in itertools.pairwise(edges)):
        message = f"the code has no list {options.cuts!r} of increasing numbers from 1 to {options.layers - 1}"
        remedy = f"write it once, at the beginning of a line: `{options.cuts} = [{options.layers // 2}]`"
        draft.report.add(line, Rule.OPTION_VALUE, options.cuts, message, remedy)
        return None
    return Cuts(options.cuts, options.layers, places)

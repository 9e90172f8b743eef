"""Builds measurements: code that leaves a table, with the chart that is drawn of it."""

from app.course.code import highlight
from app.course.code_blocks import check_python, find_setup, split_code
from app.course.directives import MeasureOptions
from app.course.draft import Draft
from app.course.model import Cell, Chart, ChartPlan, Measure
from app.course.options import read_options
from app.course.problems import Rule
from app.course.tree import Directive


def build_measure(directive: Directive, name: str, draft: Draft) -> Measure | None:
    fence = directive.fence
    options = read_options(fence, MeasureOptions, draft.report)
    code = split_code(directive)
    check_python(code.before, code.line, fence, draft)
    if code.after is not None:
        remedy = "remove the `---` line and what follows: what is measured is committed, not written"
        draft.report.add(code.after_line - 1, Rule.MISSING_PART, "---", "a {measure} has no expected output", remedy)
    if options is None:
        return None
    _check_chart(directive, options, draft)
    caption_line = next((option.line for option in fence.options if option.name == "caption"), fence.line)
    cell = Cell(
        id=name,
        source=code.before,
        setup=find_setup(options.setup, fence, draft) if options.setup else "",
        caption=draft.prose.inline(options.caption, caption_line),
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
    plan = ChartPlan(options.chart, options.x, options.y, options.log, options.alt)
    return Measure(name, cell, plan, options.exact, draft.where(fence.line))


def _check_chart(directive: Directive, options: MeasureOptions, draft: Draft) -> None:
    fence = directive.fence
    if options.chart is not Chart.NONE:
        for option, value in (("x", options.x), ("y", options.y)):
            if not value:
                message = f"a {options.chart} chart needs the option :{option}:"
                remedy = f"write `:{option}:` and names of columns of `result`"
                draft.report.add(fence.line, Rule.MISSING_OPTION, option, message, remedy)
        return
    for given in fence.options:
        if given.name in ("x", "y", "log"):
            message = f":{given.name}: says nothing without a chart"
            draft.report.add(
                given.line, Rule.OPTION_VALUE, given.value, message, "write `:chart: line`, bar or scatter"
            )

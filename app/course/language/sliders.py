"""Reads the sliders of a measurement: numbers in its code that a reader moves."""

import re

from app.course.blocks import Slider
from app.course.language.directive_specs import MeasureOptions
from app.course.language.draft import Draft
from app.course.language.tree import Directive
from app.course.problems import Rule

NUMBER = r"-?\d+(?:\.\d+)?"
PLAN = re.compile(rf"([A-Za-z_]\w*) ({NUMBER}) ({NUMBER}) ({NUMBER})")
MAX_STEPS = 1000


def read_sliders(directive: Directive, options: MeasureOptions, source: str, draft: Draft) -> tuple[Slider, ...]:
    """The numbers that `:sliders:` names, with the values that the code gives them."""
    fence = directive.fence
    line = fence.line_of("sliders")
    if options.sliders and options.readonly:
        message = "a reader cannot move sliders in read-only code"
        draft.report.add(line, Rule.OPTION_VALUE, "readonly", message, "remove `:readonly:` or `:sliders:`")
    found = []
    for plan in options.sliders:
        slider = _read_plan(plan, source)
        if isinstance(slider, Slider):
            found.append(slider)
        else:
            message, remedy = slider
            draft.report.add(line, Rule.OPTION_VALUE, plan, message, remedy)
    return tuple(found)


def _read_plan(plan: str, source: str) -> Slider | tuple[str, str]:
    """The slider, or what is wrong with its plan and what to write."""
    parts = PLAN.fullmatch(plan)
    if parts is None:
        return f"{plan!r} is not a name and three numbers", "write the name, the smallest and largest value, the step"
    name, low, high, step = parts.groups()
    steps = (float(high) - float(low)) / float(step) if float(step) > 0 else 0
    if not 1 <= steps <= MAX_STEPS:
        message = f"the slider {name!r} has no steps from {low} to {high} by {step}"
        return message, f"write a smaller value, a larger one, and a step above 0, with 1 to {MAX_STEPS:,} steps"
    values = re.findall(rf"^{name} = ({NUMBER})$", source, re.MULTILINE)
    if len(values) != 1 or not float(low) <= float(values[0]) <= float(high):
        message = f"the code does not set {name!r} to a number from {low} to {high}"
        return message, f"write it once, at the beginning of a line: `{name} = {low}`"
    return Slider(name, low, high, step, values[0])

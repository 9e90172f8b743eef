"""Figures, walks and incidents on a page: what is told and shown. No I/O."""

from app.course.blocks import Illustration, Incident, Steps, StepState
from app.course.code import highlight
from app.web import blocks as views


def show_illustration(block: Illustration) -> views.FigureView:
    return views.FigureView(block.id, block.address, block.alt, block.caption)


def show_steps(block: Steps) -> views.StepsView:
    lines = block.cell.source.split("\n")
    return views.StepsView(
        id=block.id,
        anchor=block.id,
        intro=block.intro,
        caption=block.cell.caption,
        source=block.cell.source,
        source_html=block.cell.html,
        states=tuple(_show_state(state, lines) for state in block.states),
    )


def _show_state(state: StepState, lines: list[str]) -> views.StepView:
    numbers = [number for number in state.lines if 1 <= number <= len(lines)]
    code = tuple(views.CodeLineView(number, highlight(lines[number - 1]), marked=False) for number in numbers)
    return views.StepView(" ".join(map(str, numbers)), code, state.html)


def show_incident(block: Incident, cell: views.CellView) -> views.IncidentView:
    return views.IncidentView(block.id, block.title, block.story, cell)

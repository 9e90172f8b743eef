"""Present figures, walks and incidents as views. No I/O."""

from app.course.blocks import Illustration, Incident, Steps, StepState
from app.web.views import blocks as views
from app.web.views.presenting_results import show_lines
from app.web.views.steps import StepsView, StepView


def show_illustration(block: Illustration) -> views.FigureView:
    return views.FigureView(block.id, block.address, block.alt, block.caption)


def show_steps(block: Steps) -> StepsView:
    return StepsView(
        id=block.id,
        anchor=block.id,
        intro=block.intro,
        caption=block.cell.caption,
        source=block.cell.source,
        source_html=block.cell.html,
        states=tuple(_show_state(state, block.cell.source) for state in block.states),
    )


def _show_state(state: StepState, source: str) -> StepView:
    code = show_lines(source, state.lines)
    return StepView(" ".join(str(line.number) for line in code), code, state.html)


def show_incident(block: Incident, cell: views.CellView) -> views.IncidentView:
    return views.IncidentView(block.id, block.title, block.story, cell)

"""Decide which blocks show a reader's own data: those are rendered each time and never cached."""

from app.web.views.blocks import (
    BlockView,
    BoxView,
    CellView,
    DrillView,
    ExerciseLinkView,
    IncidentView,
    MeasurementView,
    PredictView,
    QuestionView,
    RevealView,
)
from app.web.views.ladder import LadderView


def is_of_reader(view: BlockView) -> bool:  # noqa: C901 - one flat match over a closed union
    """Whether the block shows what this reader wrote, chose, ran or reached."""
    match view:
        case CellView():
            return view.text != view.source
        case IncidentView() | MeasurementView():
            return is_of_reader(view.cell) or (isinstance(view, MeasurementView) and view.live)
        case PredictView():
            return view.state != "open" or bool(view.problem)
        case QuestionView():
            return view.state != "unanswered" or bool(view.attempts or view.problem)
        case DrillView():
            return view.question is not None or bool(view.problem)
        case ExerciseLinkView():
            return view.passed or view.attempts > 0
        case LadderView():
            return True
        case BoxView() | RevealView():
            return any(is_of_reader(block) for block in view.blocks)
        case _:
            return False

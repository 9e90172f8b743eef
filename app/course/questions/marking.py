"""An attempt at a question, and its mark. Pure.

A response is kept as it was given (strings), so that a history can be marked again after a question was corrected.
"""

from dataclasses import dataclass

from app.course.blocks import Html


@dataclass(frozen=True)
class QuestionResponse:
    """What a form sent: `values` for options and lines, `text` for what was typed, names of the node clicked.

    `draw` is the seed of the draw that was answered, of a question with a variant.
    """

    values: tuple[str, ...] = ()
    text: str = ""
    node_names: tuple[str, ...] = ()
    draw: int | None = None


@dataclass(frozen=True)
class Mark:
    """`right` is None where only the learner can say: an open answer, which they compare with the rubric."""

    right: bool | None
    feedback: Html


class Unmarkable(Exception):
    """The form held no answer that this question could take. The message is a sentence for the learner."""


def need_text(response: QuestionResponse, otherwise: str) -> str:
    """What was typed. Raises Unmarkable, in the words of `otherwise`, where that is nothing."""
    if not response.text.strip():
        raise Unmarkable(otherwise)
    return response.text

"""An attempt at a question, and its mark. Pure.

A response is stored as given, as strings, so that a history can be marked again after a question is corrected.
"""

from dataclasses import dataclass

from app.course.blocks import Html


@dataclass(frozen=True)
class QuestionResponse:
    """What a form sent: `values` for options and lines, `text` for typed text, the names of a clicked node.

    `draw` is the seed of the draw that was answered, if the question has a variant.
    """

    values: tuple[str, ...] = ()
    text: str = ""
    node_names: tuple[str, ...] = ()
    draw: int | None = None


@dataclass(frozen=True)
class Mark:
    """`right` is None for an open answer, which the learner compares with the rubric."""

    right: bool | None
    feedback: Html


class Unmarkable(Exception):
    """The form held no answer that this question can mark. The message is a sentence for the learner."""


def need_text(response: QuestionResponse, otherwise: str) -> str:
    """The typed text. Raises Unmarkable with the message `otherwise` if there is none."""
    if not response.text.strip():
        raise Unmarkable(otherwise)
    return response.text

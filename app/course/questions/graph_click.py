"""A question answered by clicking a node of a graph. Pure."""

from dataclasses import dataclass, replace

from pydantic import Field

from app.course.blocks import VariantDraw
from app.course.language.option_fields import Names, Text
from app.course.questions.draw_values import ANSWER, show_values, split_texts
from app.course.questions.marking import Mark, QuestionResponse, Unmarkable
from app.course.questions.question import DrawnOptions, QuestionBase, QuestionOptions, Written
from app.course.questions.wrong_answers import (
    WrongAnswers,
    need_otherwise,
    read_drawn_wrong_answers,
    read_wrong_answers,
)

DRAWN_PICTURE = "drill-graph"
"""The picture of a drill's question, which is drawn with it."""


class GraphClickOptions(QuestionOptions):
    cell: Text = Field(description="write the id of the cell or graph that is clicked")
    targets: Names = Field(description="write the right nodes: forward names or variables, with commas between them")


@dataclass(frozen=True, kw_only=True)
class GraphClick(QuestionBase):
    """`cell` is the id of the cell or graph whose picture is clicked; `targets` are the right nodes' names.

    In a drill the picture is drawn with the question, and the draw's `answer` names the targets.
    """

    cell: str
    targets: tuple[str, ...]
    wrong: WrongAnswers
    """Keyed by a node's forward name, its variable, or autograd's own name for it."""

    kind = "graph-click"
    options_model = GraphClickOptions
    drawn_options_model = DrawnOptions

    @classmethod
    def read(cls, written: Written) -> "GraphClick":
        options = written.options
        need_otherwise(written.items, written.line, "a click on any other node gets no feedback", written.report)
        if not isinstance(options, GraphClickOptions):
            wrong = read_drawn_wrong_answers(written.items, written.line, written.report)
            return cls(**vars(written.common), cell=DRAWN_PICTURE, targets=(), wrong=wrong)
        wrong = read_wrong_answers(written.items, options.targets, written.report)
        return cls(**vars(written.common), cell=options.cell, targets=options.targets, wrong=wrong)

    def mark(self, response: QuestionResponse) -> Mark:
        names = response.node_names
        if not names:
            raise Unmarkable("First click a node of the graph, or choose one from the list.")
        if set(names) & set(self.targets):
            return Mark(True, "")
        return Mark(False, self.wrong.feedback_to(*names))

    def fill(self, draw: VariantDraw) -> "GraphClick":
        return replace(super().fill(draw), targets=_targets_in(draw), wrong=self.wrong.fill(draw))

    def find_flaw(self, draw: VariantDraw) -> str:
        targets = _targets_in(draw)
        if not targets:
            return f"its {ANSWER!r} names no node"
        return self.wrong.find_truth(draw, {target.casefold() for target in targets})


def _targets_in(draw: VariantDraw) -> tuple[str, ...]:
    return split_texts(show_values(draw).get(ANSWER, ""))

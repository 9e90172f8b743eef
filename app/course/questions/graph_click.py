"""A question answered by clicking a node of a graph. Pure."""

from dataclasses import dataclass

from pydantic import Field

from app.course.language.option_fields import Names, Text
from app.course.questions.marking import Mark, QuestionResponse, Unmarkable
from app.course.questions.question import QuestionBase, QuestionOptions, Written
from app.course.questions.wrong_answers import WrongAnswers, need_otherwise, read_wrong_answers


class GraphClickOptions(QuestionOptions):
    cell: Text = Field(description="write the id of the cell or graph that is clicked")
    targets: Names = Field(description="write the right nodes: forward names or variables, with commas between them")


@dataclass(frozen=True, kw_only=True)
class GraphClick(QuestionBase):
    """`cell` is the id of the cell or graph whose picture is clicked; `targets` are the right nodes' names."""

    cell: str
    targets: tuple[str, ...]
    wrong: WrongAnswers
    """Keyed by a node's forward name, its variable, or autograd's own name for it."""

    kind = "graph-click"
    options_model = GraphClickOptions

    @classmethod
    def read(cls, written: Written) -> "GraphClick":
        options = written.options
        assert isinstance(options, GraphClickOptions)
        wrong = read_wrong_answers(written.items, options.targets, written.report)
        need_otherwise(written.items, written.line, "a click on any other node gets no feedback", written.report)
        return cls(**vars(written.common), cell=options.cell, targets=options.targets, wrong=wrong)

    def mark(self, response: QuestionResponse) -> Mark:
        names = response.node_names
        if not names:
            raise Unmarkable("First click a node of the graph, or choose one from the list.")
        if set(names) & set(self.targets):
            return Mark(True, "")
        return Mark(False, self.wrong.feedback_to(*names))

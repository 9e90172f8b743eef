"""A question answered in the learner's own words, which the learner compares with a rubric. Pure."""

from dataclasses import dataclass

from app.course.blocks import Html
from app.course.problems import Rule
from app.course.questions.marking import Mark, QuestionResponse, need_text
from app.course.questions.question import QuestionBase, Written


@dataclass(frozen=True, kw_only=True)
class Open(QuestionBase):
    """`rubric` lists the points that a good answer makes."""

    rubric: tuple[Html, ...]

    kind = "open"

    @classmethod
    def read(cls, written: Written) -> "Open":
        if not written.rubric:
            remedy = "list what a good answer says after `+++`: `- [rubric] point`"
            written.report.add(written.line, Rule.MISSING_PART, "", "this open question has no rubric", remedy)
        return cls(**vars(written.common), rubric=written.rubric)

    def mark(self, response: QuestionResponse) -> Mark:
        need_text(response, "Write an answer first: a sentence is enough.")
        return Mark(None, "")

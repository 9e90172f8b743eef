"""An exercise's page: the prompt, hints one at a time, the editor, and this learner's submissions."""

from dataclasses import dataclass
from typing import ClassVar

from app.course.model import Html
from app.web.page import Frame, Place


@dataclass(frozen=True)
class HintView:
    """`html` is empty until the hint was opened; `may_open` is true for the next one in order only."""

    number: int
    html: Html
    opened: bool
    may_open: bool


@dataclass(frozen=True)
class SubmissionRow:
    """One line of the history; `passed` is None while it is not finished or was our fault."""

    href: str
    submitted_at: str
    status: str
    passed: bool | None
    cases_passed: int
    cases_total: int


@dataclass(frozen=True)
class LimitRow:
    name: str
    value: str


@dataclass(frozen=True)
class ExercisePage:
    """`token` makes a form sent twice one submission. `text` is the draft, or the last submission, or the starter.

    `action` takes source and token; `hint_action` takes `number`. `problem` is a sentence about a submission that
    could not be taken (too long, too many waiting).
    """

    template: ClassVar = "exercise.html"
    frame: Frame
    name: str
    title: str
    summary: str
    kind: str
    difficulty: str
    minutes: int
    concepts: tuple[str, ...]
    prompt: Html
    starter: str
    text: str
    token: str
    action: str
    hint_action: str
    draft_place: str
    api_action: str
    max_source_kib: int
    limits: tuple[LimitRow, ...]
    hints: tuple[HintView, ...]
    history: tuple[SubmissionRow, ...]
    passed: bool
    chapters: tuple[Place, ...]
    problem: str = ""

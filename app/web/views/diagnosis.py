"""The question that a bug hunt asks besides the code: which kind of fault, and which line of the starter has it."""

import json
from dataclasses import dataclass

from starlette.exceptions import HTTPException

from app.course.blocks import Html
from app.course.language.code import highlight
from app.course.language.python_code import is_code_line, source_lines
from app.course.model import Exercise
from app.storage.draft_key import diagnosis_key
from app.web.views.blocks import OptionView
from graders.contract.jobs import Diagnosed, GradeJob
from graders.ledger import Submission

NOTHING_SAID = Diagnosed()


@dataclass(frozen=True)
class StarterLine:
    """A line of the starter. `selectable` is false for a line without code; `chosen` is the line marked last."""

    number: int
    html: Html
    selectable: bool
    chosen: bool


@dataclass(frozen=True)
class DiagnosisForm:
    """The fields of the answer's form: `category` is an option's id, `line` a line's number."""

    options: tuple[OptionView, ...]
    lines: tuple[StarterLine, ...]
    draft_key: str


def make_form(exercise: Exercise, draft: str | None, last: Submission | None) -> DiagnosisForm | None:
    """The form with the last choice: the saved draft, or the last submission's diagnosis."""
    asked = exercise.manifest.diagnosis
    if asked is None:
        return None
    said = read_draft(draft) if draft is not None else _said_in(last)
    return DiagnosisForm(
        options=tuple(
            OptionView(name, words, chosen=name == said.category) for name, words in _in_order(asked.categories)
        ),
        lines=tuple(
            StarterLine(number, highlight(line), is_code_line(line), number == said.line)
            for number, line in enumerate(source_lines(exercise.starter), 1)
        ),
        draft_key=diagnosis_key(exercise.name),
    )


def _in_order(categories: dict[str, str]) -> list[tuple[str, str]]:
    """Options sorted by their text, because authors tend to write the right one first."""
    return sorted(categories.items(), key=lambda each: each[1].casefold())


def read_draft(text: str) -> Diagnosed:
    """The diagnosis in a draft; an empty one if the text cannot be read."""
    try:
        told = json.loads(text)
        return Diagnosed(category=told.get("category") or None, line=told.get("line") or None)
    except (ValueError, RecursionError, AttributeError):
        return NOTHING_SAID


def write_draft(said: Diagnosed) -> str:
    return said.model_dump_json(exclude_none=True)


def _said_in(last: Submission | None) -> Diagnosed:
    if last is None or not isinstance(last.job, GradeJob):
        return NOTHING_SAID
    return last.job.diagnosed or NOTHING_SAID


def read_diagnosed(exercise: Exercise, category: str, line: int | None) -> Diagnosed | None:
    """The diagnosis in a form or a request; None if the exercise asks for no diagnosis.

    Raises HTTPException for values that the form could not have sent. The judge comments on a missing part.
    """
    asked = exercise.manifest.diagnosis
    if asked is None:
        return None
    if category and category not in asked.categories:
        raise HTTPException(422, "There is no such kind of fault to choose from.")
    lines = source_lines(exercise.starter)
    if line is not None and not (1 <= line <= len(lines) and is_code_line(lines[line - 1])):
        raise HTTPException(422, f"There is no code on line {line} of the starter.")
    return Diagnosed(category=category or None, line=line)

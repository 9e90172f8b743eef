"""A walk through a program's states, as its template shows it."""

from dataclasses import dataclass
from typing import ClassVar

from app.course.blocks import Html


@dataclass(frozen=True)
class CodeLineView:
    """A line of a listing; `marked` if an error was raised there."""

    number: int
    html: Html
    marked: bool


@dataclass(frozen=True)
class StepView:
    """One state of a walk. `numbers` are its line numbers, separated by spaces; `code` is those lines, coloured."""

    numbers: str
    code: tuple[CodeLineView, ...]
    html: Html


@dataclass(frozen=True)
class StepsView:
    """A walk through a program's states: a listing, and every state. A script shows one at a time."""

    template: ClassVar[str] = "steps"
    id: str
    anchor: str
    intro: Html
    caption: Html
    source: str
    source_html: Html
    states: tuple[StepView, ...]

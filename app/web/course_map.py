"""The course map: every module and chapter, written or planned, and how far this learner is on each."""

from dataclasses import dataclass
from typing import ClassVar

from app.course.model import Html
from app.web.blocks import ExerciseLinkView, LadderView
from app.web.page import Frame


@dataclass(frozen=True)
class ChapterRow:
    """`href` is empty for a planned chapter; `ladder` is None for one, and for a reader we do not know."""

    number: str
    title: str
    href: str
    subtitle: Html
    minutes: int
    objectives: tuple[Html, ...]
    planned: bool
    ladder: LadderView | None


@dataclass(frozen=True)
class ModuleRow:
    number: int
    title: str
    summary: str
    chapters: tuple[ChapterRow, ...]


@dataclass(frozen=True)
class CourseMapPage:
    template: ClassVar = "course.html"
    frame: Frame
    modules: tuple[ModuleRow, ...]
    exercises: tuple[ExerciseLinkView, ...]
    chapters_written: int
    chapters_total: int

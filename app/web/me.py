"""A learner's own page: progress, calibration, and their data to take away or to delete."""

from dataclasses import dataclass
from typing import ClassVar

from app.web.blocks import ExerciseLinkView, LadderView
from app.web.page import Frame, Place


@dataclass(frozen=True)
class ChapterProgress:
    chapter: Place
    ladder: LadderView


@dataclass(frozen=True)
class CalibrationRow:
    """Of the predictions made at this confidence, how many held. `expected_percent` is what the word promises."""

    label: str
    resolved: int
    right: int
    right_percent: int
    expected_percent: int


@dataclass(frozen=True)
class MePage:
    """`calibration` is empty, and `calibration_words` says so, before the first resolved prediction."""

    template: ClassVar = "me.html"
    frame: Frame
    chapters: tuple[ChapterProgress, ...]
    exercises: tuple[ExerciseLinkView, ...]
    calibration: tuple[CalibrationRow, ...]
    calibration_words: str
    export_href: str
    delete_action: str
    deleted: bool
    """True right after the data was deleted."""

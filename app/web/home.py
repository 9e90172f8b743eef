"""The home page: one screen that says what this is, lets you run something, and starts the course."""

from dataclasses import dataclass
from typing import ClassVar

from app.web.blocks import CellView
from app.web.page import Frame, Place


@dataclass(frozen=True)
class HomePage:
    """`start` is the first chapter, or None while the course has none; frame.learner.resume is where they left."""

    template: ClassVar = "home.html"
    frame: Frame
    tagline: str
    cell: CellView
    start: Place | None
    chapters_written: int
    chapters_total: int
    exercises_total: int
    claims_held: int
    """How many of the course's sentences are proven by code on the torch named here."""
    torch: str

"""A chapter's page: the course's blocks merged with what this learner predicted, answered and ran."""

from dataclasses import dataclass
from typing import ClassVar

from app.course.model import Html
from app.web.blocks import BlockView, LadderView
from app.web.page import Frame, Place


@dataclass(frozen=True)
class ContentsEntry:
    level: int
    text: str
    anchor: str


@dataclass(frozen=True)
class HeadlineView:
    """A headline figure; `claim_anchor` is the claim on this page that proves it."""

    value: str
    label: Html
    claim_anchor: str


@dataclass(frozen=True)
class ChapterPage:
    """`place_action` takes PUT {"anchor": ...} as the reader scrolls, so that they find their place again.

    `read_action` is a form (no fields) that marks the chapter as read to the end; `read` says that it was.
    """

    template: ClassVar = "chapter.html"
    frame: Frame
    slug: str
    number: str
    title: str
    subtitle: Html
    module_title: str
    module_number: int
    module_chapters: int
    minutes: int
    words: int
    objectives: tuple[Html, ...]
    concepts: tuple[str, ...]
    prerequisites: tuple[Place, ...]
    headlines: tuple[HeadlineView, ...]
    ladder: LadderView
    contents: tuple[ContentsEntry, ...]
    blocks: tuple[BlockView, ...]
    place_action: str
    read_action: str
    read: bool
    resume_anchor: str
    """The heading where this learner left the chapter, or empty."""
    previous: Place | None
    next: Place | None

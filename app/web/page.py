"""What every page carries: the frame around its content. A page's own dataclass holds one of these as `frame`."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from app.preview import PreviewNote


class Theme(StrEnum):
    """The reader's choice, kept in a cookie so that the first paint is already right."""

    AUTO = "auto"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True)
class Place:
    """Somewhere to go: a link with its words."""

    href: str
    title: str
    number: str = ""


@dataclass(frozen=True)
class LearnerFacts:
    """What the frame says of its reader. `known` is false until there was something worth keeping."""

    known: bool = False
    resume: Place | None = None


@dataclass(frozen=True)
class Frame:
    """`path` is the page's own path (for the navigation and the theme form); `asset` maps "site.css" to its URL.

    `title` is the page's own; `course_title` the course's. `nonce` is for the style nonce that the editor reads.
    `math_css` is the URL of the style rules that this course's formulas need, or empty.
    """

    title: str
    description: str
    path: str
    theme: Theme
    nonce: str
    asset: Callable[[str], str]
    course_title: str
    math_css: str
    learner: LearnerFacts
    preview: PreviewNote | None = None
    """Set in an author's preview alone."""
    has_glossary: bool = False
    has_debugging: bool = False

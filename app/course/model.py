"""A course as data: what the loader makes of its files, and what the pages show. Frozen; HTML is already safe."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.course.blocks import Block, Html, Where
from app.course.flow import Flow
from graders.contract.manifest import Manifest


@dataclass(frozen=True)
class Term:
    """A word of the subject. `uses` are the places that link to it: a chapter's slug, and an anchor in it."""

    id: str
    name: str
    html: Html
    uses: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Headline:
    """One of a chapter's headline figures: a number, what it is, and the claim that proves it."""

    value: str
    label: Html
    claim: str


@dataclass(frozen=True)
class Chapter:
    """One chapter. `number` is its place in its module, "1.1"; `ordinal` its place in the course, from 1."""

    slug: str
    number: str
    ordinal: int
    module: str
    title: str
    subtitle: Html
    minutes: int
    words: int
    objectives: tuple[Html, ...]
    concepts: tuple[str, ...]
    prerequisites: tuple[str, ...]
    headlines: tuple[Headline, ...]
    blocks: tuple[Block, ...]
    where: Where
    draft: bool = False
    """Not for learners yet: only its author's preview shows it."""
    lines: tuple[int, ...] = ()
    """The file's line on which each of `blocks` begins."""


@dataclass(frozen=True)
class PlannedChapter:
    """A chapter that the course promises and has not written: its title is shown, honestly as planned."""

    number: str
    ordinal: int
    title: str
    objectives: tuple[str, ...] = ()


@dataclass(frozen=True)
class Module:
    id: str
    number: int
    title: str
    summary: str
    chapters: tuple[Chapter | PlannedChapter, ...]


@dataclass(frozen=True)
class Evidence:
    """When, where and on which version a claim last held (or did not)."""

    held: bool
    torch: str
    device: str
    python: str
    checked_on: str
    seconds: float
    message: str = ""


@dataclass(frozen=True)
class Exercise:
    """An exercise as the website shows it; `solution` is read from disk only after a pass."""

    name: str
    folder: Path
    manifest: Manifest
    prompt: Html
    hints: tuple[Html, ...]
    starter: str


@dataclass(frozen=True)
class Explanation:
    """A place in the course in a reader's words; `line` is that of its entry in course.toml."""

    href: str
    words: str
    line: int


@dataclass(frozen=True)
class Course:
    """Everything the website shows that is not a learner's."""

    root: Path
    title: str
    tagline: str
    torch: str
    modules: tuple[Module, ...]
    concepts: Mapping[str, str]
    exercises: Mapping[str, Exercise]
    evidence: Mapping[str, Evidence]
    """By "chapter-slug/claim-id"."""
    glossary: tuple[Term, ...] = ()
    debugging: Flow | None = None
    """The guide from a symptom to its cause, where the course has one."""
    explained: Mapping[str, Explanation] = field(default_factory=dict)
    """Where the rule of an operation is explained, by the player's name for the rule."""
    math_css: str = ""
    """The rules of the classes that stand in typeset formulas where KaTeX wrote style attributes."""

    @property
    def chapters(self) -> tuple[Chapter, ...]:
        """The written chapters, in reading order."""
        return tuple(c for m in self.modules for c in m.chapters if isinstance(c, Chapter))

    @property
    def chapter_total(self) -> int:
        """How many chapters the course has when it is whole, planned ones included."""
        return sum(len(module.chapters) for module in self.modules)

"""A course as data: the loader builds it and the pages show it. Frozen; HTML is already safe."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from app.course.block_tree import Block
from app.course.blocks import Html, Where
from app.course.drills.drill import Drill
from app.course.flow import Flow
from app.course.gallery import Snippet
from app.course.index import ChapterIndex, index_blocks
from app.course.releases import ReleasesFile
from app.course.spots import hash_blocks, hash_writing, name_blocks
from graders.contract.manifest import Manifest


@dataclass(frozen=True)
class Term:
    """A term of the glossary. `uses` are the first link to it in each chapter: the chapter's slug and an anchor."""

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
    """One chapter. `number` is its position by module, e.g. "1.1"; `ordinal` its position in the course, from 1.

    A page beside the numbered chapters is a Chapter whose `number` is empty and whose `ordinal` is 0.
    """

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
    """Hidden from learners: only the author's preview shows it."""
    lines: tuple[int, ...] = ()
    """The file's line on which each of `blocks` begins."""

    @cached_property
    def index(self) -> ChapterIndex:
        return index_blocks(self.blocks)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The name of each of `blocks`, by which a reader reports it; empty where nothing can be reported."""
        return name_blocks(self.blocks)

    @cached_property
    def hashes(self) -> Mapping[str, str]:
        """What is written in each block, as a hash, by its key."""
        return hash_blocks(self.keys, self.blocks)

    @cached_property
    def version(self) -> str:
        """A hash of everything that the chapter says, in its order."""
        return hash_writing((self.title, tuple(self.hashes.items())))


@dataclass(frozen=True)
class PlannedChapter:
    """A chapter that is announced but not written yet; its title is shown and labelled as planned."""

    number: str
    ordinal: int
    title: str
    objectives: tuple[str, ...] = ()


@dataclass(frozen=True)
class Module:
    """A module without a `number` holds pages beside the numbered chapters, such as case studies."""

    id: str
    number: int | None
    title: str
    summary: str
    chapters: tuple[Chapter | PlannedChapter, ...]


@dataclass(frozen=True)
class Evidence:
    """The last run of a claim: its result, date, machine and version of torch."""

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
    """Where the course explains a rule, in words for the reader; `line` is the line of its entry in course.toml."""

    href: str
    words: str
    line: int


@dataclass(frozen=True)
class CourseIndex:
    """Lookup tables for pages. `chapters` are the written ones, in reading order."""

    chapters: tuple[Chapter, ...]
    by_slug: Mapping[str, Chapter]
    modules: Mapping[str, Module]
    offering: Mapping[str, tuple[Chapter, ...]]
    """The chapters that link to an exercise, in reading order, by the exercise's name."""


def index_course(modules: tuple[Module, ...]) -> CourseIndex:
    chapters = tuple(entry for module in modules for entry in module.chapters if isinstance(entry, Chapter))
    offering: dict[str, tuple[Chapter, ...]] = {}
    for chapter in chapters:
        for name in chapter.index.exercises:
            offering[name] = (*offering.get(name, ()), chapter)
    by_slug = {chapter.slug: chapter for chapter in chapters}
    return CourseIndex(chapters, by_slug, {module.id: module for module in modules}, offering)


@dataclass(frozen=True)
class Start:
    """Where one kind of reader begins. `reader` is what they say of themselves, `title` what they open."""

    reader: str
    why: str
    href: str
    title: str


@dataclass(frozen=True)
class ExerciseSet:
    """Exercises that go together, by name and in order; an instructor can assign them at once."""

    name: str
    title: str
    exercises: tuple[str, ...]


@dataclass(frozen=True)
class Course:
    """All content of the website except learners' data."""

    root: Path
    title: str
    tagline: str
    torch: str
    modules: tuple[Module, ...]
    concepts: Mapping[str, str]
    exercises: Mapping[str, Exercise]
    evidence: Mapping[str, Evidence]
    """Keyed by "chapter-slug/claim-id"."""
    glossary: tuple[Term, ...] = ()
    debugging: Flow | None = None
    """The guide from a symptom to its cause; None if the course has none."""
    explained: Mapping[str, Explanation] = field(default_factory=dict)
    """Where an operation's rule is explained, by the player's name for the rule."""
    starts: tuple[Start, ...] = ()
    """The first is the home page's; empty: the first chapter is."""
    sets: tuple[ExerciseSet, ...] = ()
    gallery: tuple[Snippet, ...] = ()
    drills: tuple[Drill, ...] = ()
    brand: str = ""
    """The short name in the header; the title if there is none."""
    lead: str = ""
    """What the home page says under the tagline."""
    pages: tuple[str, ...] = ("problems", "play", "claims")
    """What the header links to beside the course itself."""
    releases: ReleasesFile = field(default_factory=ReleasesFile)
    """Which claims held on other releases of torch."""
    math_css: str = ""
    """The CSS rules of the classes that replace KaTeX's style attributes in typeset formulas."""
    index: CourseIndex = field(init=False, repr=False, compare=False)
    """Identifies this version of the course: a changed copy has a different value."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", index_course(self.modules))

    @property
    def chapters(self) -> tuple[Chapter, ...]:
        """The written chapters in reading order, pages without a number included."""
        return self.index.chapters

    @cached_property
    def version(self) -> str:
        """A hash of everything that the course says; not of measured tables and evidence."""
        chapters = tuple((chapter.slug, chapter.hashes) for chapter in self.chapters)
        exercises = tuple((exercise.name, exercise.prompt) for exercise in self.exercises.values())
        return hash_writing((chapters, exercises, self.glossary, self.debugging))

    @property
    def numbered_chapters(self) -> tuple[Chapter, ...]:
        """The written chapters that have a number, in reading order."""
        return tuple(chapter for chapter in self.chapters if chapter.number)

    @property
    def chapter_total(self) -> int:
        """The number of numbered chapters, planned ones included."""
        return sum(len(module.chapters) for module in self.modules if module.number is not None)

    @property
    def numbered_modules(self) -> tuple[Module, ...]:
        return tuple(module for module in self.modules if module.number is not None)

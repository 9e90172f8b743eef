"""course.toml: the course's title, its concepts, and its modules with the order of their chapters."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from graders.contract.manifest import Difficulty, Slug


class _Fields(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ChapterEntry(_Fields):
    """A chapter's entry. The chapter is planned, under this title, until `chapters/SLUG/chapter.md` exists."""

    slug: Slug
    title: str = ""
    objectives: tuple[str, ...] = ()


class ModuleEntry(_Fields):
    """`number` is the first part of its chapters' numbers: chapter 2 of module 1 is 1.2.

    The chapters of a module with `numbered = false` are pages beside the course: they have no number.
    """

    id: Slug
    number: Annotated[int, Field(ge=0)] | None = None
    numbered: bool = True
    title: str
    summary: str
    chapters: tuple[ChapterEntry, ...] = ()


class StartEntry(_Fields):
    """Where one kind of reader begins: `to` is a chapter's slug, or "debugging" for the guide."""

    reader: Annotated[str, Field(min_length=1, max_length=60)]
    to: Slug
    why: str = ""


class SetEntry(_Fields):
    """A set of exercises: those that are named, in this order, and then those that match every filter given.

    An exercise matches `concepts` if it practises any of them.
    """

    name: Slug
    title: Annotated[str, Field(min_length=1, max_length=60)]
    exercises: tuple[Slug, ...] = ()
    concepts: tuple[Slug, ...] = ()
    kinds: tuple[str, ...] = ()
    difficulties: tuple[Difficulty, ...] = ()


ShownPage = Literal["problems", "play", "claims"]


class CourseFile(_Fields):
    """course.toml, version 1. `torch` is the version with which the course's numbers were measured;
    a course without torch leaves it out. `brand` is the short name in the header (the title), `lead` what the home
    page says under the tagline, `pages` what the header links to beside the course.

    `starts` says where different readers begin; the first is the home page's. Without it, the first chapter is.
    `explained` maps the name of a rule of the player to where it is explained: `chapter` or `chapter#anchor`.
    """

    format: Annotated[int, Field(ge=1, le=1)]
    title: str
    tagline: str
    torch: str = ""
    brand: str = ""
    lead: str = ""
    pages: tuple[ShownPage, ...] | None = None
    concepts: dict[Slug, str]
    explained: dict[str, str] = Field(default_factory=dict)
    starts: tuple[StartEntry, ...] = ()
    sets: tuple[SetEntry, ...] = ()
    modules: Annotated[tuple[ModuleEntry, ...], Field(min_length=1)]

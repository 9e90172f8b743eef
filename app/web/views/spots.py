"""Find the spot of the course that an address or a report names, and say in words which one it is. No I/O."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup

from app.course.block_tree import Block, Box, Reveal
from app.course.blocks import (
    Cell,
    Claim,
    DrillPlace,
    ExerciseLink,
    Graph,
    Heading,
    Illustration,
    Incident,
    Measure,
    Predict,
    Steps,
)
from app.course.model import Chapter, Course
from app.course.questions.question import QuestionBase
from app.course.spots import hash_writing
from app.web.edge.links import link_to

PROMPT = "prompt"
GLOSSARY, DEBUGGING = "glossary", "debugging"
KINDS: tuple[tuple[type, str], ...] = (
    (QuestionBase, "question"),
    (Predict, "prediction"),
    (Cell, "code cell"),
    (Measure, "measurement"),
    (Graph, "graph"),
    (Claim, "claim"),
    (Illustration, "figure"),
    (Steps, "walk-through"),
    (Incident, "incident"),
    (ExerciseLink, "link to an exercise"),
    (DrillPlace, "drill"),
    (Box, "box"),
    (Reveal, "answer that unfolds"),
)


@dataclass(frozen=True)
class Spot:
    """`page` and `block` are its key; `title` is the page's, and `words` say which part of the page it is."""

    page: str
    block: str
    href: str
    title: str
    words: str
    content_hash: str


@dataclass(frozen=True)
class ReportFormView:
    """The form that reports a place of the course as wrong; `sent` is true once the report is stored.

    It sends `text` and `content_hash`, the hash of what is written there now.
    """

    template: ClassVar[str] = "report"
    title: str
    words: str
    action: str
    note_href: str
    """Where the reader keeps a note of their own on this place."""
    content_hash: str
    max_characters: int
    ask_href: str = ""
    """Where the reader asks their section about this place; empty for somebody who is in none."""
    text: str = ""
    problem: str = ""
    sent: bool = False


def report_address(page: str, block: str) -> str:
    return f"/report/{page}/{block}"


def note_address(page: str, block: str) -> str:
    return f"/notes/{page}/{block}"


def find_spot(course: Course, page: str, block: str) -> Spot | None:
    """The place, if the course has it (still)."""
    kind, _, name = page.partition("/")
    if kind == "chapters" and name in course.index.by_slug:
        return _find_block(course.index.by_slug[name], page, block)
    if kind == "exercises" and name in course.exercises and block == PROMPT:
        exercise = course.exercises[name]
        return Spot(page, block, f"/{page}", exercise.manifest.title, "the task", hash_writing(exercise.prompt))
    if page == GLOSSARY:
        term = next((term for term in course.glossary if term.id == block), None)
        if term is None:
            return None
        return Spot(page, block, f"/glossary#{block}", "Glossary", term.name, hash_writing((term.name, term.html)))
    if page == DEBUGGING and course.debugging and (step := course.debugging.by_id.get(block)):
        href = f"/debugging?at={block}#now"
        return Spot(page, block, href, course.debugging.title, Markup(step.title).striptags(), hash_writing(step))
    return None


def find_wording(course: Course, page: str, content_hash: str) -> Spot | None:
    """Where a chapter has exactly this block now, because blocks without an id get other numbers when some come."""
    chapter = course.index.by_slug.get(page.removeprefix("chapters/"))
    found = [key for key, known in chapter.hashes.items() if known == content_hash] if chapter else []
    return find_spot(course, page, found[0]) if found else None


def title_page(course: Course, page: str) -> str:
    """The page in words, for a list of pages. A page that the course no longer has keeps its address."""
    kind, _, name = page.partition("/")
    if kind == "chapters" and name in course.index.by_slug:
        chapter = course.index.by_slug[name]
        return f"{chapter.number} {chapter.title}".strip()
    if kind == "exercises" and name in course.exercises:
        return f"Exercise: {course.exercises[name].manifest.title}"
    return {GLOSSARY: "Glossary", DEBUGGING: "Debugging guide"}.get(page, page)


def _find_block(chapter: Chapter, page: str, key: str) -> Spot | None:
    if key not in chapter.hashes:
        return None
    position = chapter.keys.index(key)
    block, section = chapter.blocks[position], _section(chapter.blocks[:position])
    kind = next((words for kind, words in KINDS if isinstance(block, kind)), "text")
    words = f"{kind} in “{section}”" if section else f"{kind} before the first heading"
    title = f"{chapter.number} {chapter.title}".strip()
    return Spot(page, key, link_to(chapter, key).href, title, words, chapter.hashes[key])


def _section(before: Iterable[Block]) -> str:
    titles = [block.text for block in before if isinstance(block, Heading)]
    return titles[-1] if titles else ""

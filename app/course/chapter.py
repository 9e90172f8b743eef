"""Parses one chapter's text into its blocks and references. Pure: opens no file."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.course.block_tree import Block
from app.course.blocks import Variant, Where
from app.course.language.building import build_blocks
from app.course.language.code_blocks import read_setup, read_variant
from app.course.language.directive_scan import Fence, find_fences
from app.course.language.directive_specs import HIDDEN
from app.course.language.draft import Draft, Named
from app.course.language.front_matter import Head, read_front_matter
from app.course.language.lost_text import advise_undone, blank_conflicts
from app.course.language.markdown import make_parser
from app.course.language.prose import Image, Link, Prose
from app.course.language.tree import Part, directives_of, nest
from app.course.language.typeset import Typesetter
from app.course.model import Chapter, Headline
from app.course.problems import ContentProblem, Report, Rule, report_invisible
from app.course.questions.kinds import Question
from app.course.questions.placeholders import mark_placeholders
from app.course.questions.question import QuestionBase

WORDS_A_MINUTE = 200
MINUTES_A_CELL = 1.0
MINUTES_A_QUESTION = 1.5
SLACK_MINUTES = 5.0
"""The minutes of the front matter may differ from the estimate by this many, and by a factor of two."""


@dataclass(frozen=True)
class ParsedChapter:
    """A chapter without its position in the course, with the references to check against the course."""

    chapter: Chapter | None
    problems: tuple[ContentProblem, ...]
    links: tuple[Link, ...]
    images: tuple[Image, ...]
    concepts: tuple[Named, ...]
    prerequisites: tuple[Named, ...]
    exercises: tuple[Named, ...]
    drills: tuple[Named, ...]
    anchors: frozenset[str]
    anchor_lines: tuple[tuple[int, str], ...] = ()
    """Every anchor with its line, from the top."""


class ChapterParser:
    """Parses chapters; one Markdown parser and one typesetter serve them all."""

    def __init__(self, typesetter: Typesetter) -> None:
        self._typesetter = typesetter
        self._markdown: MarkdownIt = make_parser()

    def parse(self, text: str, path: str, slug: str) -> ParsedChapter:
        """`path` is relative to the course's root, and appears in problems."""
        report = Report(path)
        lines = text.split("\n")
        written = tuple(lines)
        report_invisible(lines, report)
        blank_conflicts(lines, report)
        advise_undone(lines, report)
        head = read_front_matter(lines, report)
        # Blank lines keep the line numbers equal to those of the file.
        lines[: head.end] = [""] * head.end
        fences = find_fences(lines, report)
        _mark_questions(lines, fences.values())
        prose = Prose(self._markdown, self._typesetter, report, f"/chapters/{slug}/figures")
        reserved = frozenset(fence.argument for fence in fences.values())
        draft = Draft(slug, report, prose, written, reserved_ids=reserved)
        parts = nest(prose.parse("\n".join(lines), fences))
        _read_hidden(parts, draft)
        block_lines: list[int] = []
        blocks = build_blocks(parts, draft, lines=block_lines)
        chapter = self._assemble(head, blocks, draft)
        chapter = chapter and replace(chapter, lines=tuple(block_lines))
        _check_within(head, draft, fences.values())
        return _collect(chapter, head, draft)

    def _assemble(self, head: Head, blocks: tuple[Block, ...], draft: Draft) -> Chapter | None:
        fields = head.fields
        if fields is None:
            return None
        inline = draft.prose.inline
        words = draft.prose.words
        return Chapter(
            slug=draft.slug,
            number="",
            ordinal=0,
            module="",
            title=fields.title,
            subtitle=inline(fields.subtitle, head.line("subtitle")),
            minutes=fields.minutes,
            words=words,
            objectives=tuple(
                inline(text, head.line("objectives", index)) for index, text in enumerate(fields.objectives)
            ),
            concepts=fields.concepts,
            prerequisites=fields.prerequisites,
            headlines=tuple(
                Headline(item.value, inline(item.label, head.line("headlines", index, "label")), item.claim)
                for index, item in enumerate(fields.headlines)
            ),
            blocks=blocks,
            where=Where(draft.report.path, 1),
            draft=fields.draft,
        )

    def question(self, text: str, path: str, variant: Variant) -> "ParsedQuestions":
        """Parses a file that holds questions alone, which may be drawn by `variant`."""
        report = Report(path)
        lines = text.split("\n")
        written = tuple(lines)
        report_invisible(lines, report)
        blank_conflicts(lines, report)
        advise_undone(lines, report)
        fences = find_fences(lines, report)
        _mark_questions(lines, fences.values())
        prose = Prose(self._markdown, self._typesetter, report, "")
        draft = Draft(variant.id, report, prose, written, variants={variant.id: variant}, asks_about_drawn=True)
        blocks = build_blocks(nest(prose.parse("\n".join(lines), fences)), draft)
        questions = tuple(block for block in blocks if isinstance(block, QuestionBase))
        return ParsedQuestions(questions, tuple(report.problems), tuple(prose.links), tuple(draft.concepts))

    def markdown(self, text: str, path: str, cut_at: str = "") -> "RenderedText":
        """Renders Markdown without directives: an exercise's prompt, or its hints, each under its heading.

        `cut_at` is the tag of the headings that begin a part, e.g. "h2"; without it the whole file is one part.
        """
        report = Report(path)
        lines = text.split("\n")
        blank_conflicts(lines, report)
        advise_undone(lines, report)
        text = "\n".join(lines)
        prose = Prose(self._markdown, self._typesetter, report, "")
        parts: list[list[Token]] = [[]]
        for token in prose.parse(text):
            if cut_at and token.type == "heading_open" and token.tag == cut_at:
                parts.append([])
            parts[-1].append(token)
        rendered = tuple(html for part in parts if (html := prose.html(part)))
        return RenderedText(rendered, tuple(report.problems), tuple(prose.links))


@dataclass(frozen=True)
class ParsedQuestions:
    """The questions of a file without chapters, with the references to check against the course."""

    questions: tuple[Question, ...]
    problems: tuple[ContentProblem, ...]
    links: tuple[Link, ...]
    concepts: tuple[Named, ...]


@dataclass(frozen=True)
class RenderedText:
    """Rendered Markdown in its parts."""

    parts: tuple[str, ...]
    problems: tuple[ContentProblem, ...]
    links: tuple[Link, ...]


def _mark_questions(lines: list[str], fences: Iterable[Fence]) -> None:
    """Marks the names that draws fill in questions that have a variant; in other text double braces mean nothing."""
    for fence in fences:
        if fence.name == "question" and any(option.name == "variant" for option in fence.options):
            lines[fence.body : fence.close] = map(mark_placeholders, lines[fence.body : fence.close])


def _read_hidden(parts: Iterable[Part], draft: Draft) -> None:
    """Reads setups and generators before the rest, because a directive may name one that comes later."""
    for directive in directives_of(list(parts)):
        if directive.fence.is_code and directive.fence.name == "setup":
            read_setup(directive, draft)
        if directive.fence.is_code and directive.fence.name == "variant":
            read_variant(directive, draft)
        _read_hidden(directive.parts, draft)


def _check_within(head: Head, draft: Draft, fences: Iterable[Fence]) -> None:
    """Checks, once the whole chapter is read, that each reference within it exists."""
    draft.find_missing(draft.resolvers, draft.cells, "cell")
    draft.find_missing(draft.clicked, {**draft.cells, **draft.graphs}, "cell or graph")
    for use in draft.clicked:
        _check_clickable(use, draft)
    headlines = head.fields.headlines if head.fields else ()
    uses = [
        Named(item.claim, head.line("headlines", index, "claim"), f"the headline {item.value!r}")
        for index, item in enumerate(headlines)
    ]
    draft.find_missing(uses, draft.claims, "claim")
    for fence in fences:
        if fence.name in HIDDEN and fence.argument not in draft.used:
            user = "question" if fence.name == "variant" else "cell"
            remedy = f"write `:{fence.name}: {fence.argument}` in a {user}, or remove the fence"
            draft.report.add(fence.line, Rule.UNKNOWN_ID, fence.argument, f"no {user} uses this {fence.name}", remedy)
    if head.fields:
        _check_minutes(head, draft)


def _check_clickable(use: Named, draft: Draft) -> None:
    cell = draft.cells.get(use.name)
    if cell is not None and not cell.graph:
        message = f"{use.by} points to the cell {use.name!r}, which does not show a graph"
        remedy = f"add `:graph:` to the cell on line {cell.where.line}, or name a {{graph}}"
        draft.report.add(use.line, Rule.UNKNOWN_ID, use.name, message, remedy)


def _check_minutes(head: Head, draft: Draft) -> None:
    if head.fields is None:
        return
    cells = len(draft.cells) + len(draft.measures)
    estimate = draft.prose.words / WORDS_A_MINUTE + MINUTES_A_CELL * cells + MINUTES_A_QUESTION * draft.questions
    given = head.fields.minutes
    if estimate / 2 - SLACK_MINUTES <= given <= estimate * 2 + SLACK_MINUTES:
        return
    draft.report.add(
        head.line("minutes"),
        Rule.READING_TIME,
        str(given),
        f"the front matter says {given} minutes; {draft.prose.words} words, {cells} cells and "
        f"{draft.questions} questions take about {max(1, round(estimate))}",
        f"write about {max(1, round(estimate))}",
    )


def _collect(chapter: Chapter | None, head: Head, draft: Draft) -> ParsedChapter:
    fields = head.fields
    concepts = [
        Named(name, head.line("concepts", index), "the front matter")
        for index, name in enumerate(fields.concepts if fields else ())
    ]
    prerequisites = [
        Named(name, head.line("prerequisites", index), "the front matter")
        for index, name in enumerate(fields.prerequisites if fields else ())
    ]
    return ParsedChapter(
        chapter,
        tuple(draft.report.problems),
        tuple(draft.prose.links),
        tuple(draft.prose.images),
        tuple(concepts + draft.concepts),
        tuple(prerequisites),
        tuple(draft.exercises),
        tuple(draft.drills),
        frozenset(draft.anchors),
        tuple(sorted((line, anchor) for anchor, line in draft.anchors.items())),
    )

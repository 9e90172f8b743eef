"""Turns Markdown tokens into safe HTML, and records problems, links and the number of words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice, takewhile
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.course.blocks import Html
from app.course.language.code import knows_language
from app.course.language.directive_scan import Fence
from app.course.language.lost_text import (
    BLANK_IN_NAME,
    advise_words,
    report_other_dialects,
    report_surplus_cells,
    report_unused_notes,
)
from app.course.language.markdown import FENCES
from app.course.language.python_code import find_syntax_mistake
from app.course.language.typeset import MathMistake, Typesetter
from app.course.problems import Report, Rule, suggest
from app.course.questions.placeholders import names_in, number_marks, restore_marks

DIRECTIVES = ("cell", "setup", "variant", "measure", "graph", "claim")
"""What an author may take for a language: the directives that hold code."""
USUAL_LANGUAGES = ("python", "pycon", "console", "text", "bash", "toml", "yaml", "json", "cpp", "diff", "markdown")

GLUED_HEADING = re.compile(r"#{2,6}[^#\s]")
LOST_LINK = re.compile(r"\]\((?P<target>[^)\s]*)")
TAG = re.compile(r"</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>|<!--")
FOOTNOTE = re.compile(r"\[\^([^\]\s]+)\]")
REFERENCE = re.compile(r"\[[^\[\]]+\]\[([^\[\]^]+)\]")
LONE_DOLLAR = re.compile(r"\$(?=[^\s\d.,;:!?)\]])|(?<=[^\s\d(\[])\$")
"""A dollar sign next to a word, as around a formula, and not before a price."""
CLOSING = re.compile(r"[.,;:!?)\]’”]+")
"""Characters that may not begin a line. A formula is a box to the browser, which may break before a full stop."""
SCHEME = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*):")
ALIGNMENT = {"text-align:left": "align-left", "text-align:right": "align-right", "text-align:center": "align-center"}


@dataclass(frozen=True)
class Link:
    """A link inside the course, checked later; `chapter` and `exercise` are empty in a link within the page."""

    line: int
    href: str
    chapter: str = ""
    exercise: str = ""
    anchor: str = ""
    term: str = ""
    guide: str | None = None
    """A step of the debugging guide; empty for its beginning, None in any other link."""


@dataclass(frozen=True)
class Image:
    """A picture on a page, as a path within the chapter's folder."""

    line: int
    path: str


class Prose:
    """Renders the Markdown of one file. `figures` is the address under which the file's pictures are served."""

    def __init__(self, parser: MarkdownIt, typesetter: Typesetter, report: Report, figures: str) -> None:
        self._parser = parser
        self._typesetter = typesetter
        self._report = report
        self._figures = figures
        self._env: dict[str, Any] = {}
        self.links: list[Link] = []
        self.images: list[Image] = []
        self.words = 0

    def parse(self, text: str, fences: dict[int, Fence] | None = None) -> list[Token]:
        """The tokens of a whole file."""
        self._env = {FENCES: fences or {}}
        tokens = self._parser.parse(text, self._env)
        self._finish(tokens, 0)
        lines = text.split("\n")
        report_surplus_cells(tokens, lines, self._report)
        report_unused_notes(self._env, lines, self._report)
        return tokens

    def inline(self, text: str, line: int) -> Html:
        """One line of Markdown as inline HTML; `line` is its line in the file, from 1."""
        tokens = self._parser.parseInline(text, {})
        self._finish(tokens, line - 1)
        return self._render(tokens)

    def block(self, text: str, line: int) -> Html:
        """Markdown inside a code fence, as HTML; `line` is the number of its first line, from 1."""
        tokens = self._parser.parse(text, {})
        self._finish(tokens, line - 1)
        return self.compact(tokens)

    def html(self, tokens: Sequence[Token]) -> Html:
        return self._render(tokens).strip()

    def compact(self, tokens: Sequence[Token]) -> Html:
        """Like `html`, but a single paragraph comes without its `<p>`."""
        if [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]:
            return self.html(tokens[1:2])
        return self.html(tokens)

    def _render(self, tokens: Sequence[Token]) -> Html:
        return str(self._parser.renderer.render(tokens, self._parser.options, self._env))

    def _finish(self, tokens: Sequence[Token], offset: int) -> None:
        self._typesetter.prepare(_formulas_in(tokens))
        line = offset + 1
        for index, token in enumerate(tokens):
            if token.map:
                line = token.map[0] + offset + 1
            if token.type == "inline":
                report_other_dialects(token.content, line, self._report)
                self._finish_inline(token.children or [], line)
            elif token.type == "math_block":
                self._typeset(token, line, display=True)
            elif token.type == "fence":
                self._check_code(token, line)
            elif token.type in ("th_open", "td_open"):
                _align_by_class(token)
            elif token.type == "thead_open":
                self._check_table_head(tokens, index, line)

    def _check_table_head(self, tokens: Sequence[Token], index: int, line: int) -> None:
        """Reports columns without a heading: a screen reader reads a column's heading before each of its cells."""
        row = takewhile(lambda token: token.type != "thead_close", islice(tokens, index, None))
        headings = [token.content.strip() for token in row if token.type == "inline"]
        empty = [str(number) for number, heading in enumerate(headings, 1) if not heading]
        if empty:
            which = f"column {empty[0]} has" if len(empty) == 1 else f"columns {', '.join(empty)} have"
            message = f"{which} no heading in this table"
            remedy = "name each column in the table's first line"
            self._report.add(line, Rule.TABLE_HEADING, ", ".join(empty), message, remedy)

    def _finish_inline(self, children: list[Token], line: int) -> None:
        for index, token in enumerate(children):
            if token.type in ("softbreak", "hardbreak"):
                line += 1
            elif token.type == "text":
                self._check_text(token.content, line, index == 0 or children[index - 1].type == "softbreak")
            elif token.type == "code_inline":
                self.words += len(token.content.split())
            elif token.type == "math_inline":
                self._typeset(token, line, display=False)
                _hold_closing(token, children[index + 1 : index + 2])
                line += token.content.count("\n")
            elif token.type == "link_open":
                token.attrs["href"] = self._resolve_link(str(token.attrs.get("href", "")), line)
            elif token.type == "image":
                self._resolve_image(token, line)

    def _check_line_start(self, text: str, line: int) -> None:
        if GLUED_HEADING.match(text):
            hashes = text[: len(text) - len(text.lstrip("#"))]
            message = f"{text[:40]!r} is shown as text: a heading needs a space after {hashes}"
            self._report.add(line, Rule.HEADING, text, message, f"write {hashes} {text.lstrip('#')[:40]}")

    def _check_text(self, text: str, line: int, at_start: bool) -> None:
        self.words += len(text.split())
        advise_words(text, line, self._report)
        if at_start:
            self._check_line_start(text, line)
        if tag := TAG.search(text):
            message = f"{tag[0]} is shown as text: chapters may not contain HTML"
            remedy = "use a directive or Markdown; put code in backticks"
            self._report.add(line, Rule.RAW_HTML, tag[0], message, remedy)
        if "$$" in text:
            message = "$$ does not open a formula here"
            remedy = "put $$ on lines of their own around the formula, without blank lines inside, or write $...$"
            self._report.add(line, Rule.MATH, "$$", message, remedy)
        elif lone := LONE_DOLLAR.search(text):
            around = text[max(0, lone.start() - 12) : lone.end() + 12].strip()
            message = f"a single $ in {around!r} does not begin or end a formula"
            remedy = "write $...$ without spaces next to the signs, or put the sign in backticks"
            self._report.add(line, Rule.MATH, "$", message, remedy)
        self._check_lost_links(text, line)
        if note := FOOTNOTE.search(text):
            message = f"the footnote [^{note[1]}] is not defined"
            remedy = f"write a line `[^{note[1]}]: text` in this file"
            self._report.add(line, Rule.FOOTNOTE, note[1], message, remedy)

    def _check_lost_links(self, text: str, line: int) -> None:
        """Links and pictures that Markdown did not take for such."""
        if reference := REFERENCE.search(text):
            message = f"the link {reference[0]} has no target"
            remedy = f"write [text](address), or a line `[{reference[1]}]: address`"
            self._report.add(line, Rule.DEAD_LINK, reference[0], message, remedy)
        if blank := BLANK_IN_NAME.search(text):
            message = f"the picture {blank['target']!r} is shown as text: its name has a blank"
            remedy = f"rename the file, and write {blank['target'].replace(' ', '-')}"
            self._report.add(line, Rule.DEAD_LINK, blank["target"], message, remedy)
        elif lost := LOST_LINK.search(text):
            message = f"the link to {lost['target']!r} is shown as text"
            remedy = "write #anchor, chapter:SLUG, chapter:SLUG#anchor, exercise:NAME, term:NAME, debugging: or https://..."
            self._report.add(line, Rule.DEAD_LINK, lost["target"], message, remedy)

    def _typeset(self, token: Token, line: int, display: bool) -> None:
        tex, names = number_marks(token.content.strip())
        result = self._typesetter.typeset(tex, display)
        self.words += 1
        if isinstance(result, str):
            token.meta["html"] = restore_marks(result, names)
            return
        self._report_math(token, result, line)

    def _report_math(self, token: Token, mistake: MathMistake, line: int) -> None:
        content = token.content
        skipped = len(content) - len(content.lstrip())
        position = len(content.rstrip()) if mistake.position < 0 else mistake.position + skipped
        message = f"the formula does not parse at character {position - skipped + 1}: {mistake.message}"
        line += content[:position].count("\n")
        self._report.add(line, Rule.MATH, content.strip(), message, mistake.remedy)

    def _check_code(self, token: Token, line: int) -> None:
        language = token.info.strip().split(" ")[0] if token.info.strip() else ""
        if not knows_language(language):
            remedy = suggest(language, USUAL_LANGUAGES, "write python, console, text, or a name that Pygments knows")
            if language in DIRECTIVES:
                remedy = f"write ```{{{language}}} ID, with braces, or ```text to show it as text"
            message = f"no language is called {language!r}"
            self._report.add(line, Rule.UNKNOWN_DIRECTIVE, language, message, remedy)
        if language == "python" and not names_in(token.content) and (mistake := find_syntax_mistake(token.content)):
            message = f"this Python does not parse: {mistake.message}"
            remedy = "fix it, or mark the fence ```text if it is not meant to parse"
            self._report.add(line + mistake.line, Rule.PYTHON, "", message, remedy)

    def _resolve_link(self, href: str, line: int) -> str:
        path, _, anchor = href.partition("#")
        if href.startswith("#"):
            self.links.append(Link(line, href, anchor=anchor))
            return href
        scheme = SCHEME.match(href)
        if scheme and scheme["scheme"] == "chapter":
            slug = path.removeprefix("chapter:")
            self.links.append(Link(line, href, chapter=slug, anchor=anchor))
            return f"/chapters/{slug}" + (f"#{anchor}" if anchor else "")
        if scheme and scheme["scheme"] == "exercise":
            name = path.removeprefix("exercise:")
            self.links.append(Link(line, href, exercise=name))
            return f"/exercises/{name}"
        if scheme and scheme["scheme"] == "term":
            term = path.removeprefix("term:")
            self.links.append(Link(line, href, term=term))
            return f"/glossary#{term}"
        if scheme and scheme["scheme"] == "debugging":
            step = path.removeprefix("debugging:")
            self.links.append(Link(line, href, guide=step))
            return f"/debugging?at={step}" if step else "/debugging"
        if not (scheme and scheme["scheme"] in ("https", "http", "mailto")):
            message = f"the link {href!r} has no valid target"
            remedy = "write #anchor, chapter:SLUG, chapter:SLUG#anchor, exercise:NAME or https://..."
            self._report.add(line, Rule.DEAD_LINK, href, message, remedy)
        return href

    def _resolve_image(self, token: Token, line: int) -> None:
        source = str(token.attrs.get("src", ""))
        if not token.content.strip():
            message = f"the image {source!r} has no alternative text"
            remedy = f"write what it shows: ![what it shows]({source})"
            self._report.add(line, Rule.IMAGE_ALT, source, message, remedy)
        if not source.startswith("figures/") or ".." in source:
            message = f"the image {source!r} is not in this chapter's figures/"
            remedy = "put the file there and write figures/NAME; pages load nothing from another host"
            self._report.add(line, Rule.MISSING_FILE, source, message, remedy)
            return
        self.images.append(Image(line, source))
        token.attrs["src"] = f"{self._figures}/{source.removeprefix('figures/')}"
        token.attrs["loading"] = "lazy"


def _formulas_in(tokens: Iterable[Token]) -> Iterator[tuple[str, bool]]:
    for token in tokens:
        if token.type in ("math_inline", "math_block"):
            yield number_marks(token.content.strip())[0], token.type == "math_block"
        elif token.children:
            yield from _formulas_in(token.children)


def _hold_closing(formula: Token, following: Sequence[Token]) -> None:
    """Keeps following punctuation on the formula's line, if the formula itself cannot be broken."""
    html = formula.meta.get("html", "")
    closing = CLOSING.match(following[0].content) if following and following[0].type == "text" else None
    if closing and html.count('class="katex-base"') == 1:
        formula.meta["html"] = f'<span class="unbroken">{html}{escape(closing[0])}</span>'
        following[0].content = following[0].content.removeprefix(closing[0])


def _align_by_class(token: Token) -> None:
    """Pages forbid style attributes, so a column's alignment becomes a class."""
    style = str(token.attrs.pop("style", ""))
    if style in ALIGNMENT:
        token.attrs["class"] = ALIGNMENT[style]

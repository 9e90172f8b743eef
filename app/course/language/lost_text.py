"""Finds what Markdown would drop silently or show raw: surplus cells, unused footnotes, TeX, split links."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from markdown_it.rules_block.table import escapedSplit as split_cells
from markdown_it.token import Token

from app.course.problems import Report, Rule

CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
DOLLARS = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.DOTALL)
DEFINED_NOTE = re.compile(r"\[\^([^\]\s]+)\]:")
TEX_PAIR = re.compile(r"\\\((?P<inline>.+?)\\\)|\\\[(?P<display>.*?[\\^_=].*?)\\\]", re.DOTALL)
ENVIRONMENT = re.compile(r"\\begin\{(?P<name>[a-z]+\*?)\}")
SPLIT_LINK = re.compile(
    r"\[(?P<words>[^\[\]]+)\][ \t]+\((?P<target>(?:#|chapter:|exercise:|term:|debugging:|figures/|https?:)[^)]*)\)"
)
BLANK_IN_NAME = re.compile(r"\]\((?P<target>figures/[^)\n]*[ \t][^)\n]*)\)")
CONFLICT = re.compile(r"(?:<{7} \S|={7}$|>{7} \S)")
DOUBLED = re.compile(r"(?<![\w'’.-])(?P<word>[^\W\d_]{2,})[ \t]+(?P=word)(?![\w'’-])", re.IGNORECASE)
MAY_STAND_TWICE = frozenset({"had", "that", "bye", "very", "ha", "no", "so"})
UNDONE = re.compile(r"\b(?:TODO|FIXME|XXX)\b")


def blank_conflicts(lines: list[str], report: Report) -> None:
    """Reports each merge conflict once, at its first line, and blanks the markers so that they cause nothing more."""
    opened = False
    for index, line in enumerate(lines):
        if not CONFLICT.match(line):
            continue
        if line.startswith("<"):
            opened = True
            message = "a merge conflict is not resolved here"
            remedy = "keep the text that is right, and remove the lines with <<<<<<<, ======= and >>>>>>>"
            report.add(index + 1, Rule.CONFLICT, line, message, remedy)
        if opened:
            lines[index] = ""
        opened = opened and not line.startswith(">")


def report_surplus_cells(tokens: Sequence[Token], lines: Sequence[str], report: Report) -> None:
    """A row's cells beyond the table's columns, which no page shows."""
    columns = 0
    for token in tokens:
        if token.type == "table_open":
            columns = 0
        elif token.type == "th_open":
            columns += 1
        elif token.type == "tr_open" and token.map and columns:
            cells = split_cells(lines[token.map[0]].strip().lstrip("> "))
            # A row may begin and end with a bar.
            cells = cells[1 if cells and not cells[0].strip() else 0 : len(cells) - (not cells[-1].strip())]
            if len(cells) > columns:
                lost = cells[columns].strip()
                message = f"this row has {len(cells)} cells and the table {columns} columns: {lost!r} is lost"
                remedy = "add a heading for it, join the cells, or write \\| for a bar inside a cell"
                report.add(token.map[0] + 1, Rule.TABLE_CELLS, lost, message, remedy)


def report_unused_notes(env: Mapping[str, Any], lines: Sequence[str], report: Report) -> None:
    """Footnotes that no text refers to, which no page shows."""
    references: Mapping[str, int] = env.get("footnotes", {}).get("refs", {})
    unused = {name.removeprefix(":") for name, place in references.items() if place < 0}
    for number, line in enumerate(lines, 1):
        found = DEFINED_NOTE.match(line.strip())
        if found and found[1] in unused:
            unused.discard(found[1])
            message = f"no text refers to the footnote [^{found[1]}], so no page shows it"
            report.add(
                number, Rule.FOOTNOTE, found[1], message, f"write [^{found[1]}] where it belongs, or remove it"
            )


def report_other_dialects(content: str, line: int, report: Report) -> None:
    """TeX and links as other systems write them. `content` is the Markdown of one paragraph, cell or heading."""
    text = DOLLARS.sub(_blanks, CODE_SPAN.sub(_blanks, content))
    for found in TEX_PAIR.finditer(text):
        shown = found[0].split("\n")[0][:40]
        remedy = "write $...$" if found["inline"] else "put $$ on lines of their own around it"
        _add(report, Rule.MATH, found, text, line, f"{shown} is shown without its backslashes, as text", remedy)
    for found in ENVIRONMENT.finditer(text):
        message = f"\\begin{{{found['name']}}} is shown as text: only $...$ and $$ begin a formula"
        inner = found["name"].replace("align", "aligned").replace("*", "")
        remedy = f"put $$ on lines of their own around it, and write \\begin{{{inner}}} inside"
        _add(report, Rule.MATH, found, text, line, message, remedy)
    for found in SPLIT_LINK.finditer(text):
        message = f"the link to {found['target']!r} is shown as text: there is a blank between ] and ("
        _add(report, Rule.DEAD_LINK, found, text, line, message, f"write [{found['words']}]({found['target']})")


def _blanks(found: re.Match[str]) -> str:
    """As many characters, so that what follows keeps its place."""
    return re.sub(r"[^\n]", " ", found[0])


def _add(report: Report, rule: Rule, found: re.Match[str], text: str, line: int, message: str, remedy: str) -> None:
    report.add(line + text[: found.start()].count("\n"), rule, found[0], message, remedy)


def advise_words(text: str, line: int, report: Report) -> None:
    """Advice: a word written twice in a row."""
    for found in DOUBLED.finditer(text):
        if found["word"].lower() not in MAY_STAND_TWICE:
            report.add(line, Rule.DOUBLED_WORD, found[0], f"{found[0]!r} has a word twice", "remove one of them")


def advise_undone(lines: Sequence[str], report: Report) -> None:
    """Advice: notes to oneself."""
    for number, line in enumerate(lines, 1):
        if found := UNDONE.search(line):
            report.add(number, Rule.UNDONE, found[0], f"a {found[0]} is left here", "do it, and remove the note")

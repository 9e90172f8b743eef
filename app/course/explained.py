"""Where the course explains the rules of operations: course.toml names the sections, the player links to them."""

import re
from collections.abc import Iterable, Mapping

from app.course.language.prose import Link
from app.course.language.toml_file import find_line
from app.course.model import Chapter, Course, Explanation
from app.course.problems import ContentProblem, Report, Rule, suggest

PATH = "course.toml"
TABLE = "explained"


def link_rules(entries: Mapping[str, str], text: str) -> tuple[Link, ...]:
    """The entries as links, `chapter` or `chapter#anchor`, to be checked like those of any text."""
    return tuple(_link(rule, target, text) for rule, target in entries.items())


def _link(rule: str, target: str, text: str) -> Link:
    chapter, _, anchor = target.partition("#")
    return Link(_find_entry(text, rule), target, chapter=chapter, anchor=anchor)


def _find_entry(text: str, rule: str) -> int:
    """The line of a rule's entry, which need not be the first to contain the name: a comment or an address may."""
    lines = text.split("\n")
    entry = re.compile(rf"""\s*["']?{re.escape(rule)}["']?\s*=""")
    start = find_line(text, TABLE)
    return next((number for number, line in enumerate(lines[start:], start + 1) if entry.match(line)), start)


def explain_rules(entries: Mapping[str, str], text: str, chapters: Iterable[Chapter]) -> dict[str, Explanation]:
    """The explanation, as shown to readers, of each entry whose chapter is written and not a draft."""
    written = {chapter.slug: chapter for chapter in chapters if not chapter.draft}
    links = {rule: _link(rule, target, text) for rule, target in entries.items()}
    return {rule: _explain(link, written[link.chapter]) for rule, link in links.items() if link.chapter in written}


def _explain(link: Link, chapter: Chapter) -> Explanation:
    section = chapter.index.headings.get(link.anchor)
    words = f"{chapter.number} {chapter.title}".strip() + (f": {section.text}" if section else "")
    href = f"/chapters/{chapter.slug}" + (f"#{link.anchor}" if link.anchor else "")
    return Explanation(href, words, link.line)


def check_rules(course: Course, known: Iterable[str]) -> list[ContentProblem]:
    """A problem for each entry whose rule the player does not know: its link would never be shown."""
    names, report = sorted(known), Report(PATH)
    for rule, explanation in course.explained.items():
        if rule not in names:
            message = f"the player has no rule {rule!r}"
            remedy = suggest(rule, names, "name an operation as the player's details do, or remove the entry")
            report.add(explanation.line, Rule.UNKNOWN_RULE, rule, message, remedy)
    return report.problems

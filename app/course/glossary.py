"""glossary.md: the words of the subject, each a heading with its definition under it. Pure: takes the text."""

import itertools
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from app.course.chapter import ChapterParser, ParsedChapter
from app.course.language.prose import Link
from app.course.model import Term
from app.course.problems import ContentProblem, Report, Rule, suggest

HEADING = re.compile(r"##[ \t]+(?P<name>\S.*?)[ \t]*$")
NOT_A_WORD = re.compile(r"[^\w]+")

PATH = "glossary.md"


def read_glossary(
    text: str, parser: ChapterParser
) -> tuple[tuple[Term, ...], list[ContentProblem], tuple[Link, ...]]:
    """The terms in alphabetical order, their problems, and the links in their definitions."""
    report = Report(PATH)
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if HEADING.match(line)]
    terms: dict[str, Term] = {}
    links: list[Link] = []
    for start, end in itertools.pairwise([*starts, len(lines)]):
        found = HEADING.match(lines[start])
        assert found
        name = found["name"]
        # Blank lines in front keep the line numbers equal to those of the file.
        body = parser.markdown("\n" * (start + 1) + "\n".join(lines[start + 1 : end]), PATH)
        report.problems += body.problems
        links += body.links
        term = NOT_A_WORD.sub("-", name.lower()).strip("-")
        if term in terms:
            report.add(start + 1, Rule.GLOSSARY_FILE, name, f"the term {name!r} is defined twice", "keep one")
        if not body.parts:
            message = f"the term {name!r} has no definition"
            report.add(start + 1, Rule.GLOSSARY_FILE, name, message, "write it under the heading")
        terms[term] = Term(term, name, "".join(body.parts))
    if text.strip() and not starts:
        message = "glossary.md has no terms"
        report.add(1, Rule.GLOSSARY_FILE, "", message, "write `## the term` with its definition under it")
    in_order = tuple(sorted(terms.values(), key=lambda term: term.name.casefold()))
    return in_order, report.problems, tuple(links)


def check_terms(terms: Iterable[Term], links: Mapping[str, Iterable[Link]]) -> list[ContentProblem]:
    """A problem for each link to a term that the glossary does not have. `links` are by path."""
    names = [term.id for term in terms]
    problems: list[ContentProblem] = []
    for path, found in links.items():
        report = Report(path)
        for link in found:
            if link.term and link.term not in names:
                message = f"the glossary has no term {link.term!r}"
                otherwise = f"write `## {link.term}` and its definition in glossary.md"
                report.add(link.line, Rule.UNKNOWN_TERM, link.href, message, suggest(link.term, names, otherwise))
        problems += report.problems
    return problems


def note_uses(terms: Iterable[Term], parsed: Mapping[str, ParsedChapter]) -> tuple[Term, ...]:
    """The terms, each with the first link to it in every chapter, in the order of `parsed`."""
    return tuple(replace(term, uses=tuple(_find_uses(term.id, parsed))) for term in terms)


def _find_uses(term: str, parsed: Mapping[str, ParsedChapter]) -> Iterable[tuple[str, str]]:
    for slug, chapter in parsed.items():
        first = next((link for link in chapter.links if link.term == term), None)
        if first is not None and chapter.chapter is not None and not chapter.chapter.draft:
            above = [anchor for line, anchor in chapter.anchor_lines if line <= first.line]
            yield slug, above[-1] if above else ""

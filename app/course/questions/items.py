"""The answers that an author lists: turned into options, and checked. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.course.blocks import Html, Option
from app.course.problems import Report, Rule

NOT_A_WORD = re.compile(r"[^a-z0-9]+")

RESERVED = frozenset({"dont-know"})


@dataclass(frozen=True)
class Item:
    """One `- [ ] label` with its feedback, the quotation under it. `text` is the label without markup."""

    right: bool
    text: str
    html: Html
    feedback: Html
    line: int


def name_option(text: str, number: int) -> str:
    """An id made from an answer's words; `number` is used if the answer has no words."""
    return NOT_A_WORD.sub("-", text.lower()).strip("-")[:40].strip("-") or f"option-{number}"


def name_options(texts: Sequence[str]) -> tuple[str, ...]:
    """An id for each answer, made from its words, so that answers already given survive a reordering of the list."""
    names: list[str] = []
    for position, text in enumerate(texts, 1):
        number = position
        stem = name_option(text, number)
        name = stem
        while name in RESERVED or name in names:
            name = f"{stem}-{number}"
            number += len(texts)
        names.append(name)
    return tuple(names)


def as_options(items: Sequence[Item]) -> tuple[Option, ...]:
    names = name_options([item.text for item in items])
    return tuple(Option(name, item.html, item.right, item.feedback) for name, item in zip(names, items, strict=True))


def check_choice(items: Sequence[Item], line: int, one_right: bool, report: Report) -> None:
    """Reports a list of answers that is too short, has no right answer, has too many, or repeats an answer."""
    right = sum(item.right for item in items)
    check_answers(items, line, report)
    if len(items) < 2:
        return
    if right == 0:
        report.add(line, Rule.ANSWER_KEY, "0", "no answer is marked as right", "write `- [x]` before the right one")
    elif one_right and right > 1:
        message = f"{right} answers are marked as right, but only one can be chosen"
        remedy = "keep one `[x]`, or write `:kind: several`"
        report.add(line, Rule.ANSWER_KEY, str(right), message, remedy)


def check_drawn_several(items: Sequence[Item], line: int, report: Report) -> None:
    """Reports answers marked as right: in this kind of question each draw says which answers are right."""
    check_answers(items, line, report)
    for item in items:
        if item.right:
            message = f"{item.text!r} is marked as right, but here each draw says which answers are right"
            remedy = "write `- [ ]`, and name the right ones in the draw's `answer`"
            report.add(item.line, Rule.ANSWER_KEY, item.text, message, remedy)


def check_answers(items: Sequence[Item], line: int, report: Report) -> None:
    """Reports a list of answers that has fewer than two, or repeats an answer."""
    if len(items) < 2:
        report.add(line, Rule.ANSWER_KEY, str(len(items)), "there are fewer than two answers", "add `- [ ]` items")
    seen: set[str] = set()
    for item in items:
        if item.text and item.text in seen:
            report.add(item.line, Rule.ANSWER_KEY, item.text, f"the answer {item.text!r} is repeated", "remove one")
        seen.add(item.text)

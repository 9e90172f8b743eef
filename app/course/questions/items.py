"""The answers that an author lists: the options that they make, and what is wrong with them. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.course.blocks import Html, Option
from app.course.problems import Report, Rule

NOT_A_WORD = re.compile(r"[^a-z0-9]+")

RESERVED = frozenset({"dont-know"})


@dataclass(frozen=True)
class Item:
    """One `- [ ] label` with the quotation under it. `text` is the label without markup."""

    right: bool
    text: str
    html: Html
    feedback: Html
    line: int


def name_option(text: str, number: int) -> str:
    """An id made of an answer's words; `number` is for an answer that has none."""
    return NOT_A_WORD.sub("-", text.lower()).strip("-")[:40].strip("-") or f"option-{number}"


def name_options(texts: Sequence[str]) -> tuple[str, ...]:
    """An id for each answer, made of its words: reordering a list keeps the answers that were given."""
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
    """Reports a list of answers that cannot be answered: too short, without a right one, or with twins."""
    right = sum(item.right for item in items)
    check_answers(items, line, report)
    if len(items) < 2:
        return
    if right == 0:
        report.add(line, Rule.ANSWER_KEY, "0", "no answer is marked right", "write `- [x]` before the right one")
    elif one_right and right > 1:
        message = f"{right} answers are marked right, and one can be chosen"
        remedy = "keep one `[x]`, or write `:kind: several`"
        report.add(line, Rule.ANSWER_KEY, str(right), message, remedy)


def check_drawn_several(items: Sequence[Item], line: int, report: Report) -> None:
    """Which answers are right is what each draw says."""
    check_answers(items, line, report)
    for item in items:
        if item.right:
            message = f"{item.text!r} is marked right, and each draw says which answers are"
            remedy = "write `- [ ]`, and name the right ones in the draw's `answer`"
            report.add(item.line, Rule.ANSWER_KEY, item.text, message, remedy)


def check_answers(items: Sequence[Item], line: int, report: Report) -> None:
    """Reports a list of answers that is too short to choose from, or has twins."""
    if len(items) < 2:
        report.add(line, Rule.ANSWER_KEY, str(len(items)), "there are fewer than two answers", "add `- [ ]` items")
    seen: set[str] = set()
    for item in items:
        if item.text and item.text in seen:
            report.add(item.line, Rule.ANSWER_KEY, item.text, f"the answer {item.text!r} stands twice", "remove one")
        seen.add(item.text)

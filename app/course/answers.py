"""Reads the task lists of predictions and questions: answers with their feedback, and rubric points."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from app.course.blocks import Html, Option
from app.course.draft import Draft
from app.course.problems import Rule
from app.course.tree import children, groups, plain_text

BOX = re.compile(r"\[(?P<mark> ?|x|X|rubric)\](?:[ \t]+|$)")
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


@dataclass(frozen=True)
class Body:
    """A question's body before or after its split: what is prose, what is a list of answers, what is a rubric."""

    prose: tuple[Token, ...]
    items: tuple[Item, ...]
    rubric: tuple[Html, ...]
    code: tuple[Token, ...]


def read_body(tokens: Sequence[Token], draft: Draft) -> Body:
    """Sorts the elements of a body. Reports items without feedback and items without a box."""
    prose: list[Token] = []
    items: list[Item] = []
    rubric: list[Html] = []
    code: list[Token] = []
    for group in groups(tokens):
        marks = [mark_of(item) for item in children(group)] if group[0].type == "bullet_list_open" else []
        if "rubric" in marks:
            rubric += [_read_point(item, draft) for item in children(group)]
        elif any(mark is not None for mark in marks):
            items += [_read_item(item, draft) for item in children(group)]
        else:
            prose += group
            code += [token for token in group if token.type == "fence"]
    return Body(tuple(prose), tuple(items), tuple(rubric), tuple(code))


def mark_of(item: Sequence[Token]) -> str | None:
    """What stands in the box of a list item: "", "x", "rubric"; None where it has no box."""
    inline = next((token for token in item if token.type == "inline"), None)
    found = BOX.match(inline.content) if inline else None
    return found["mark"].strip().lower() if found else None


def _line(item: Sequence[Token]) -> int:
    return item[0].map[0] + 1 if item[0].map else 0


def without_box(label: list[Token], box: re.Pattern[str] = BOX) -> list[Token]:
    """The tokens of an item's words, without the box before them."""
    for token in label:
        if token.type == "inline" and token.children:
            first = token.children[0]
            first.content = box.sub("", first.content, count=1)
            break
    return label


def _read_item(item: Sequence[Token], draft: Draft) -> Item:
    line = _line(item)
    mark = mark_of(item)
    if mark is None:
        draft.report.add(
            line,
            Rule.ANSWER_KEY,
            plain_text(item),
            "this answer has no box, so it is neither right nor wrong",
            "write `- [ ]` before a wrong answer and `- [x]` before the right one",
        )
    parts = children(item)
    label = without_box([token for part in parts if part[0].type != "blockquote_open" for token in part])
    quoted = [token for part in parts if part[0].type == "blockquote_open" for token in part[1:-1]]
    text = plain_text(label)
    if not text:
        draft.report.add(line, Rule.MISSING_PART, "", "this answer is empty", "write it after the box")
    if not quoted:
        draft.report.add(
            line,
            Rule.MISSING_FEEDBACK,
            text,
            f"the answer {text!r} has no feedback",
            "add a line `  > why it is right or wrong` under it",
        )
    return Item(mark == "x", text, draft.prose.compact(label), draft.prose.html(quoted), line)


def _read_point(item: Sequence[Token], draft: Draft) -> Html:
    if mark_of(item) != "rubric":
        draft.report.add(
            _line(item),
            Rule.ANSWER_KEY,
            plain_text(item),
            "this item of a rubric has no [rubric] box",
            "write `- [rubric]` before it",
        )
    return draft.prose.compact(without_box([token for part in children(item) for token in part]))


def name_option(text: str, number: int) -> str:
    """An id out of an answer's words; `number` is its place, for one that has none."""
    return NOT_A_WORD.sub("-", text.lower()).strip("-")[:40].strip("-") or f"option-{number}"


def name_options(texts: Sequence[str]) -> tuple[str, ...]:
    """An id for each answer, out of its words: reordering a list keeps the answers that were given."""
    names: list[str] = []
    for place, text in enumerate(texts, 1):
        number = place
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


def check_choice(items: Sequence[Item], line: int, one_right: bool, draft: Draft) -> None:
    """Reports a list of answers that cannot be answered: too short, without a right one, or with twins."""
    report = draft.report
    right = sum(item.right for item in items)
    check_answers(items, line, draft)
    if len(items) < 2:
        return
    if right == 0:
        report.add(line, Rule.ANSWER_KEY, "0", "no answer is marked right", "write `- [x]` before the right one")
    elif one_right and right > 1:
        report.add(
            line,
            Rule.ANSWER_KEY,
            str(right),
            f"{right} answers are marked right, and one can be chosen",
            "keep one `[x]`, or write `:kind: several`",
        )


def check_drawn_several(items: Sequence[Item], line: int, draft: Draft) -> None:
    """Which answers are right is what each draw says."""
    check_answers(items, line, draft)
    for item in items:
        if item.right:
            message = f"{item.text!r} is marked right, and each draw says which answers are"
            remedy = "write `- [ ]`, and name the right ones in the draw's `answer`"
            draft.report.add(item.line, Rule.ANSWER_KEY, item.text, message, remedy)


def check_answers(items: Sequence[Item], line: int, draft: Draft) -> None:
    """Reports a list of answers that is too short to choose from, or has twins."""
    report = draft.report
    if len(items) < 2:
        report.add(line, Rule.ANSWER_KEY, str(len(items)), "there are fewer than two answers", "add `- [ ]` items")
    seen: set[str] = set()
    for item in items:
        if item.text and item.text in seen:
            report.add(item.line, Rule.ANSWER_KEY, item.text, f"the answer {item.text!r} stands twice", "remove one")
        seen.add(item.text)

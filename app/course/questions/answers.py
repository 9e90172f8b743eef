"""Reads the task lists of predictions and questions: answers with their feedback, and rubric points."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it.token import Token

from app.course.blocks import Html
from app.course.language.draft import Draft
from app.course.language.tree import children, groups, line_of, plain_text
from app.course.problems import Rule
from app.course.questions.items import Item

BOX = re.compile(r"\[(?P<mark> ?|x|X|rubric)\](?:[ \t]+|$)")


@dataclass(frozen=True)
class Body:
    """A question's body before or after its split: its prose, its list of answers and its rubric."""

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
    """The content of a list item's box: "", "x" or "rubric"; None if the item has no box."""
    inline = next((token for token in item if token.type == "inline"), None)
    found = BOX.match(inline.content) if inline else None
    return found["mark"].strip().lower() if found else None


def without_box(label: list[Token], box: re.Pattern[str] = BOX) -> list[Token]:
    """The tokens of an item's text, without its box."""
    for token in label:
        if token.type == "inline" and token.children:
            first = token.children[0]
            first.content = box.sub("", first.content, count=1)
            break
    return label


def _read_item(item: Sequence[Token], draft: Draft) -> Item:
    line = line_of(item[:1], 0)
    mark = mark_of(item)
    if mark is None:
        message = "this answer has no box, so it is neither right nor wrong"
        remedy = "write `- [ ]` before a wrong answer and `- [x]` before the right one"
        draft.report.add(line, Rule.ANSWER_KEY, plain_text(item), message, remedy)
    parts = children(item)
    label = without_box([token for part in parts if part[0].type != "blockquote_open" for token in part])
    quoted = [token for part in parts if part[0].type == "blockquote_open" for token in part[1:-1]]
    text = plain_text(label)
    if not text:
        draft.report.add(line, Rule.MISSING_PART, "", "this answer is empty", "write it after the box")
    if not quoted:
        remedy = "add a line `  > why it is right or wrong` under it"
        draft.report.add(line, Rule.MISSING_FEEDBACK, text, f"the answer {text!r} has no feedback", remedy)
    return Item(mark == "x", text, draft.prose.compact(label), draft.prose.html(quoted), line)


def _read_point(item: Sequence[Token], draft: Draft) -> Html:
    if mark_of(item) != "rubric":
        message, remedy = "this item of a rubric has no [rubric] box", "write `- [rubric]` before it"
        draft.report.add(line_of(item[:1], 0), Rule.ANSWER_KEY, plain_text(item), message, remedy)
    return draft.prose.compact(without_box([token for part in children(item) for token in part]))

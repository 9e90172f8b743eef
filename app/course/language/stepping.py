"""Builds walks through a program's states: one listing, and what holds after which of its lines."""

import re
from collections.abc import Sequence

from markdown_it.token import Token

from app.course.blocks import Cell, Steps, StepState
from app.course.language.code import highlight
from app.course.language.code_blocks import find_setup
from app.course.language.directive_specs import StepsOptions
from app.course.language.draft import Draft
from app.course.language.options import read_options
from app.course.language.tree import Directive, children, groups, tokens_of
from app.course.problems import Rule
from app.course.questions.answers import without_box

LINES = re.compile(r"\[(?P<lines>\d+(?:\s*[-,]\s*\d+)*)\](?:[ \t]+|$)")
FEWEST_STATES = 2


def build_steps(directive: Directive, name: str, draft: Draft) -> Steps | None:
    fence = directive.fence
    options = read_options(fence, StepsOptions, draft.report) or StepsOptions()
    intro: list[Token] = []
    code: list[Token] = []
    items: list[list[Token]] = []
    for group in groups(tokens_of(directive.parts)):
        if group[0].type == "fence":
            code.append(group[0])
        elif group[0].type == "bullet_list_open":
            items += children(group)
        else:
            intro += group
    if len(code) != 1:
        message = f"{{steps}} {name!r} has {len(code)} code blocks; it needs exactly one"
        draft.report.add(fence.line, Rule.STEPS, str(len(code)), message, "write one ```python block in its body")
        return None
    source = code[0].content.rstrip("\n")
    states = tuple(_read_state(item, source.count("\n") + 1, draft) for item in items)
    if len(states) < FEWEST_STATES:
        message = f"{{steps}} {name!r} has {len(states)} states"
        remedy = f"list at least {FEWEST_STATES}, each written as `- [2] what holds after line 2`"
        draft.report.add(fence.line, Rule.STEPS, str(len(states)), message, remedy)
    cell = Cell(
        id=name,
        source=source,
        setup=find_setup(options.setup, fence, draft) if options.setup else "",
        caption=draft.prose.inline(options.caption, fence.line_of("caption")),
        graph=False,
        editable=False,
        flavour=options.flavour,
        expected=None,
        where=draft.where(fence.line),
        raises=options.raises,
        html=highlight(source),
        code_line=code[0].map[0] + 2 if code[0].map else fence.line,
    )
    return Steps(name, draft.prose.html(intro), cell, states, draft.where(fence.line))


def _read_state(item: Sequence[Token], total: int, draft: Draft) -> StepState:
    line = item[0].map[0] + 1 if item[0].map else 0
    inline = next((token for token in item if token.type == "inline"), None)
    found = LINES.match(inline.content) if inline else None
    if found is None:
        message = "this state does not name the lines after which it holds"
        draft.report.add(
            line, Rule.STEPS, inline.content if inline else "", message, "begin it with `[2]` or `[1-3]`"
        )
        return StepState((), draft.prose.html(item[1:-1]))
    lines = _read_lines(found["lines"])
    for number in lines:
        if not 1 <= number <= total:
            draft.report.add(
                line, Rule.STEPS, str(number), f"the code has no line {number}", f"write a line from 1 to {total}"
            )
    body = without_box([token for part in children(item) for token in part], LINES)
    return StepState(lines, draft.prose.html(body))


def _read_lines(text: str) -> tuple[int, ...]:
    """Reads lines and ranges: "1, 3-5" is 1, 3, 4, 5."""
    lines: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        lines += range(int(first), int(last or first) + 1)
    return tuple(dict.fromkeys(lines))

"""Builds incidents: a story, a list of switches, and the one cell that replays the incident with them."""

from collections.abc import Sequence
from dataclasses import replace

from markdown_it.token import Token

from app.course.block_tree import Block
from app.course.blocks import Cell, Incident, Switch
from app.course.language.directive_specs import IncidentOptions
from app.course.language.draft import Draft
from app.course.language.options import read_options
from app.course.language.tree import Directive, children, groups, plain_text, tokens_of
from app.course.problems import Rule
from app.course.questions.answers import mark_of, without_box


def build_incident(directive: Directive, name: str, inner: tuple[Block, ...], draft: Draft) -> Incident | None:
    fence = directive.fence
    options = read_options(fence, IncidentOptions, draft.report)
    story: list[Token] = []
    switches: list[Switch | None] = []
    for group in groups(tokens_of(directive.parts)):
        boxed = group[0].type == "bullet_list_open" and any(mark_of(item) is not None for item in children(group))
        if boxed:
            switches += [_read_switch(item, draft) for item in children(group)]
        else:
            story += group
    cells = [block for block in inner if isinstance(block, Cell)]
    if len(cells) != 1 or len(inner) != 1:
        message = f"the incident {name!r} holds {len(cells)} cells and {len(inner) - len(cells)} other directives"
        draft.report.add(fence.line, Rule.INCIDENT, name, message, "keep one ```{cell}, which replays the incident")
    if not switches:
        remedy = "list what might have been done otherwise: `- [ ] `clip` Clip the gradients`"
        draft.report.add(fence.line, Rule.INCIDENT, name, f"the incident {name!r} has no switch", remedy)
    if options is None or not cells:
        return None
    cell = replace(cells[0], switches=tuple(filter(None, switches)))
    _check_switches(cell, fence.line, draft)
    draft.cells[cell.id] = cell
    title = draft.prose.inline(options.title, fence.line_of("title"))
    return Incident(name, title, draft.prose.html(story), cell, draft.where(fence.line))


def _read_switch(item: Sequence[Token], draft: Draft) -> Switch | None:
    """Reads `- [x] `name` words`; an x marks a switch that was on during the incident."""
    line = item[0].map[0] + 1 if item[0].map else 0
    mark = mark_of(item)
    label = without_box([token for part in children(item) for token in part])
    words = next((token.children or [] for token in label if token.type == "inline"), [])
    code = next((token for token in words if token.type == "code_inline"), None)
    before = "".join(token.content for token in words[: words.index(code)]) if code else ""
    if mark is None or code is None or before.strip() or not code.content.isidentifier():
        message = f"{plain_text(item)!r} is not a switch"
        draft.report.add(line, Rule.INCIDENT, plain_text(item), message, "write `- [ ] `name` what it does`")
        return None
    words.remove(code)
    return Switch(code.content, draft.prose.compact(label).strip(), mark == "x")


def _check_switches(cell: Cell, line: int, draft: Draft) -> None:
    for switch in cell.switches:
        if switch.name not in cell.source:
            message = f"the cell {cell.id!r} does not use the switch {switch.name!r}"
            draft.report.add(line, Rule.INCIDENT, switch.name, message, "use it as a boolean variable, or remove it")
    if cell.expected is None and not cell.raises:
        message = f"the cell {cell.id!r} has no expected output"
        remedy = "write `---` and then what it prints with the switches as they were in the incident"
        draft.report.add(cell.where.line, Rule.INCIDENT, cell.id, message, remedy)

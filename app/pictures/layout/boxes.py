"""The contents and size of each box: texts with their places, bars of saved bytes, pills, marks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from app.pictures.graph.fold import Fold
from app.pictures.graph.graph import Graph
from app.pictures.graph.words import (
    CUT_WORDS,
    REMADE,
    count_words,
    drop_shape,
    fold_members,
    fold_size,
    fold_title,
    is_number,
    write_bytes,
    write_place,
    write_shape,
)
from app.pictures.layout.measure import shorten_end, shorten_start, text_width

TITLE_SIZE, CODE_SIZE, SMALL_SIZE = 16.0, 12.0, 11.0
WIDEST_BOX, NARROWEST_BOX = 206.0, 104.0
WIDEST_PILL, WIDEST_FREE_PILL = 184.0, 240.0
PADDING = 12.0
BAR_WIDTH = 64.0
OUTPUT_STEP = 46.0
MAX_OUTPUTS = 6
_MAX_ROOT_NAMES = 12
MAX_VALUE_WIDTH = 78.0
"""Of a value in a leaf's pill, in pixels; where it is longer, the shape stands there."""
GRADIENT_LETTERS = 18
"""How many letters a gradient's text may have beside a line."""

SEED = "backward starts here"

BoxKind = Literal["op", "custom", "inplace", "checkpoint", "opaque", "fold", "leaf", "cut", "more", "none"]
Style = Literal[
    "title",
    "name",
    "code",
    "line",
    "bytes",
    "badge",
    "error",
    "root",
    "variable",
    "shape",
    "value",
    "now",
    "grad",
    "seed",
]


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of text at its baseline, measured from the box's top left corner."""

    x: float
    y: float
    words: str
    style: Style
    size: float
    anchor: Literal["start", "middle", "end"] = "start"


@dataclass(frozen=True, slots=True)
class Bar:
    """Saved bytes: the filled part of a track."""

    x: float
    y: float
    filled: float


@dataclass(frozen=True, slots=True)
class Box:
    """A box's size and contents in pixels. `strip` is the height of a root's band at its bottom, 0 for others."""

    kind: BoxKind
    width: float
    height: float
    texts: tuple[Text, ...]
    bar: Bar | None = None
    strip: float = 0.0


class _Sheet:
    """Stacks rows; the box is as wide as its widest row."""

    def __init__(self) -> None:
        self.texts: list[Text] = []
        self.bar: Bar | None = None
        self.y = 9.0
        self.width = NARROWEST_BOX

    def add(self, words: str, style: Style, size: float, *, x: float = PADDING, advance: float) -> None:
        self.texts.append(Text(x, self.y + size, words, style, size))
        self.reach(x + width_of(words, style, size))
        self.y += advance

    def reach(self, right: float) -> None:
        self.width = max(self.width, right + PADDING)


def width_of(words: str, style: Style, size: float) -> float:
    return text_width(
        words,
        size,
        mono=style in ("code", "shape", "value", "now", "grad", "seed"),
        bold=style in ("title", "root", "variable"),
    )


def make_op_box(graph: Graph, node: int, largest_bytes: int, outputs: tuple[int, ...] = (0,)) -> Box:
    """The box of one operation: forward name, backward name, sub-expression, saved bytes, mistake, root."""
    nodes = graph.trace.nodes
    sheet = _Sheet()
    _add_title(sheet, graph.title(node), nodes.name[node])
    _add_code(sheet, graph, node, names_value=max(outputs, default=0) == 0)
    _add_saved(sheet, graph, graph.members(node), largest_bytes)
    badge = {"custom": "custom Function", "inplace": "in-place write", "checkpoint": "checkpoint", "opaque": "opaque"}
    if nodes.kind[node] in badge:
        sheet.add(badge[nodes.kind[node]], "badge", SMALL_SIZE, advance=16)
    message = find_error(graph, node)
    if node in graph.culprits:
        message = f"changed what {graph.title(graph.culprits[node])} had saved"
    if message:
        room = WIDEST_BOX - 2 * PADDING - 16
        sheet.add(shorten_end(message, room, SMALL_SIZE), "error", SMALL_SIZE, x=PADDING + 16, advance=16)
    sheet.width = max(sheet.width, min(len(outputs), MAX_OUTPUTS) * OUTPUT_STEP)
    kind: BoxKind = "op" if nodes.kind[node] == "leaf" else nodes.kind[node]
    return _finish(sheet, kind, _read_root(graph, (node,)))


def _add_title(sheet: _Sheet, title: str, name: str) -> None:
    room = WIDEST_BOX - 2 * PADDING
    title = shorten_end(title, room, TITLE_SIZE, bold=True)
    if not name:
        sheet.add(title, "title", TITLE_SIZE, advance=22)
        return
    beside = PADDING + text_width(title, TITLE_SIZE, bold=True) + 8
    if beside + text_width(name, SMALL_SIZE) <= WIDEST_BOX - PADDING:
        sheet.texts.append(Text(beside, sheet.y + TITLE_SIZE, name, "name", SMALL_SIZE))
        sheet.reach(beside + text_width(name, SMALL_SIZE))
        sheet.add(title, "title", TITLE_SIZE, advance=22)
        return
    sheet.add(title, "title", TITLE_SIZE, advance=20)
    sheet.add(shorten_end(name, room, SMALL_SIZE), "name", SMALL_SIZE, advance=16)


def _add_code(sheet: _Sheet, graph: Graph, node: int, *, names_value: bool) -> None:
    nodes = graph.trace.nodes
    span = nodes.span[node]
    if span is None:
        return
    number = f"L{span[0]}"
    start = PADDING + text_width(number, SMALL_SIZE) + 7
    code = graph.code(span)
    if names_value and nodes.variable[graph.face(node)] and code and node not in graph.root_set:
        code = f"{nodes.variable[graph.face(node)]} = {code}"
    sheet.texts.append(Text(PADDING, sheet.y + CODE_SIZE, number, "line", SMALL_SIZE))
    sheet.add(
        shorten_end(code, WIDEST_BOX - PADDING - start, CODE_SIZE, mono=True), "code", CODE_SIZE, x=start, advance=18
    )


def _add_saved(sheet: _Sheet, graph: Graph, members: Sequence[int], largest_bytes: int) -> None:
    count = sum(graph.trace.nodes.saved_bytes[node] for node in members)
    if not count:
        if any(REMADE in graph.trace.nodes.saved[node] for node in members):
            again = sum(graph.refilled.get(node, 0) for node in members)
            sheet.bar = Bar(PADDING, sheet.y + 4, _fill(again, largest_bytes))
            sheet.add(REMADE, "bytes", SMALL_SIZE, x=PADDING + BAR_WIDTH + 8, advance=17)
        return
    sheet.bar = Bar(PADDING, sheet.y + 4, _fill(count, largest_bytes))
    sheet.add(f"saves {write_bytes(count)}", "bytes", SMALL_SIZE, x=PADDING + BAR_WIDTH + 8, advance=17)


def _fill(count: int, largest_bytes: int) -> float:
    return max(2.0, BAR_WIDTH * min(1.0, count / max(largest_bytes, 1))) if count else 0.0


def find_error(graph: Graph, node: int) -> str:
    """The message of the mistake found at a node, "" if there is none."""
    events = graph.trace.events
    for step in graph.steps_at.get(node, ()):
        if events.kind[step] == "error":
            return events.text[step] or "error"
    return ""


@dataclass(frozen=True, slots=True)
class _Root:
    name: str
    value: str
    note: str


def _read_root(graph: Graph, members: Sequence[int]) -> _Root | None:
    """The text of a root's band; None if no member is a root."""
    roots = [node for node in members if node in graph.root_set]
    if not roots:
        return None
    names = [graph.trace.nodes.variable[graph.face(root)] for root in roots[:_MAX_ROOT_NAMES]]
    value = write_value(graph, roots[0]) if len(roots) == 1 else ""
    note = SEED if not graph.started.isdisjoint(roots) else ""
    return _Root(", ".join(filter(None, names)) or "result", value, note)


def _finish(sheet: _Sheet, kind: BoxKind, root: _Root | None) -> Box:
    """The box of a sheet; a root's name and value are in a separate band at its bottom."""
    height = sheet.y + 6
    if root is None:
        return Box(kind, round(sheet.width, 1), height, tuple(sheet.texts), sheet.bar)
    name = shorten_end(root.name, 96.0, 13.0, bold=True)
    sheet.texts.append(Text(PADDING, height + 16.5, name, "root", 13.0))
    beside = PADDING + text_width(name, 13.0, bold=True) + 7
    value = shorten_end(root.value, WIDEST_BOX - PADDING - beside, SMALL_SIZE, mono=True)
    sheet.texts.append(Text(beside, height + 16.5, value, "value", SMALL_SIZE))
    sheet.reach(beside + text_width(value, SMALL_SIZE, mono=True))
    strip = 24.0
    if root.note:
        sheet.texts.append(Text(PADDING, height + 31.0, root.note, "seed", SMALL_SIZE))
        sheet.reach(PADDING + width_of(root.note, "seed", SMALL_SIZE))
        strip = 40.0
    return Box(kind, round(sheet.width, 1), height + strip, tuple(sheet.texts), sheet.bar, strip)


def write_value(graph: Graph, node: int) -> str:
    """A node's output, short: `= 2.252`, `(3,) = [1.0, 2.0, 3.0]`, `(16, 64)`."""
    nodes, node = graph.trace.nodes, graph.face(node)
    shape = write_shape(nodes.shape[node])
    if not nodes.values[node]:
        return shape
    values = drop_shape(nodes.values[node])
    return f"{shape} = {values}" if nodes.shape[node] else f"= {values}"


def make_fold_box(graph: Graph, fold: Fold, largest_bytes: int) -> Box:
    """The box of a closed fold: what it holds, how many times, and its total saved bytes."""
    sheet = _Sheet()
    room = WIDEST_BOX - 2 * PADDING - 20
    title = fold_title(graph, fold)
    shorten = shorten_start if fold.kind == "module" else shorten_end
    sheet.add(shorten(title, room, TITLE_SIZE, bold=True), "title", TITLE_SIZE, advance=22)
    sheet.width = max(sheet.width + 20, NARROWEST_BOX + 20)
    if fold.over:
        sheet.add(shorten_end(fold.over, room, SMALL_SIZE + 1), "name", SMALL_SIZE + 1, advance=16)
    sheet.add(_size_line(fold), "name", SMALL_SIZE + 1, advance=18)
    if fold.kind == "repeat" and fold.period == 1 and fold.parts[0].kind == "op":
        _add_code(sheet, graph, graph.order[fold.first], names_value=True)
    if fold.kind == "stretch" and (line := find_line(graph, fold)):
        sheet.add(shorten_end(line, room, CODE_SIZE, mono=True), "code", CODE_SIZE, advance=18)
    members = fold_members(graph, fold)
    _add_saved(sheet, graph, members, largest_bytes)
    return _finish(sheet, "fold", _read_root(graph, members))


def find_line(graph: Graph, fold: Fold) -> str:
    """The whole line of the source that a stretch stands for, "" where it has several."""
    spans = (graph.trace.nodes.span[node] for node in graph.order[fold.first : fold.last + 1])
    lines = {span[0] for span in spans if span is not None}
    if len(lines) != 1:
        return ""
    line = lines.pop()
    return graph.lines[line - 1].strip() if line <= len(graph.lines) else ""


def _size_line(fold: Fold) -> str:
    """`×38 · 4 operations each`, `×9,998`, `77 operations`."""
    if fold.kind != "repeat":
        return fold_size(fold)
    each = fold.size // fold.times
    loop = f"for {fold.loop}: " if fold.loop and not fold.over else ""
    return f"{loop}×{fold.times:,}" + (f" · {count_words(each, 'operation')} each" if each > 1 else "")


def make_leaf_pill(graph: Graph, leaf: int, widest: float = WIDEST_PILL) -> Box:
    """A leaf: its name, its shape or number, and below it the final .grad if the tape records it."""
    nodes = graph.trace.nodes
    told = read_values(graph, leaf)
    shape = (
        told[0] if told else write_value(graph, leaf) if is_number(graph, leaf) else write_shape(nodes.shape[leaf])
    )
    shape = shorten_end(shape, MAX_VALUE_WIDTH, SMALL_SIZE, mono=True)
    name = shorten_path(nodes.variable[leaf]) or "leaf"
    room = widest - 30 - text_width(shape, SMALL_SIZE, mono=True)
    name = shorten_start(name, room, 13.0, bold=True)
    beside = 12 + text_width(name, 13.0, bold=True) + 6
    texts = [
        Text(12, 17.5, name, "variable", 13.0),
        Text(beside, 17.5, shape, "now" if told else "shape", SMALL_SIZE),
    ]
    width = beside + max(text_width(each, SMALL_SIZE, mono=True) for each in (shape, *told)) + 12
    height = 26.0
    if grads := read_grads(graph, leaf):
        longest = max(text_width(grad, SMALL_SIZE, mono=True) for grad in grads)
        width = max(width, min(longest + 24, widest))
        texts.append(Text(12, 32.5, ".grad None", "grad", SMALL_SIZE))
        height = 41.0
    if leaf in graph.started:
        texts.append(Text(12, height + 11, SEED, "seed", SMALL_SIZE))
        width, height = max(width, 24 + width_of(SEED, "seed", SMALL_SIZE)), height + 17
    return Box("leaf", round(max(width, 92.0 if grads else 48.0), 1), height, tuple(texts))


def read_values(graph: Graph, leaf: int) -> tuple[str, ...]:
    """What a leaf holds in the course of the tape, first to last; empty where a pill has no room for it."""
    events, nodes = graph.trace.events, graph.trace.nodes
    rows = (row for row in graph.steps_at.get(leaf, ()) if events.kind[row] == "update")
    told = [nodes.values[leaf], *(drop_shape(events.outgoing[row]) for row in rows)]
    fits = all(told) and max(text_width(each, SMALL_SIZE, mono=True) for each in told) <= MAX_VALUE_WIDTH
    return tuple(told) if fits and graph.trace.engine == "torch" and nodes.values[leaf] else ()


def shorten_path(variable: str) -> str:
    """The end of a parameter's path: `blocks.0.ln1.weight` -> `ln1.weight`, `net.mlp.0.bias` -> `mlp.0.bias`."""
    parts = variable.split(".")
    kept = 3 if len(parts) > 2 and parts[-2].isdigit() else 2
    return ".".join(parts[-kept:])


def read_grads(graph: Graph, leaf: int) -> tuple[str, ...]:
    """Every text that a leaf's pill shows for its gradient during the tape; empty if no gradient reaches it."""
    events = graph.trace.events
    found: list[str] = []
    for row in graph.steps_at.get(leaf, ()):
        incoming, before = drop_shape(events.incoming[row]), drop_shape(events.before[row])
        if events.kind[row] == "accumulate":
            found += [write_adding(before, incoming), f".grad = {drop_shape(events.outgoing[row])}"]
        elif events.kind[row] == "capture":
            found.append(f"grad() gives {incoming}")
    return (*found, f"gets {write_parts(_list_parts(graph, leaf))}") if found else ()


def _list_parts(graph: Graph, leaf: int) -> list[str]:
    """The gradients that a leaf's users send to it in the first backward call that reaches it."""
    events, parts = graph.trace.events, dict[int, list[str]]()
    for user in dict.fromkeys(graph.users.get(leaf, ())):
        slots = graph.slots[user, leaf]
        for row in graph.steps_at.get(user, ()):
            sent = events.outgoing[row].split("; ") if events.kind[row] == "vjp" else []
            parts.setdefault(events.call[row], []).extend(
                drop_shape(sent[slot]) for slot in slots if slot < len(sent) and sent[slot] not in ("", "·")
            )
    return next((found for found in parts.values() if found), [])


def write_parts(parts: list[str]) -> str:
    """`1.0 + 2.0 + 2.0`, or the number of parts if the sum would be long."""
    line = " + ".join(parts)
    return line if len(parts) < 3 or len(line) <= GRADIENT_LETTERS else f"{len(parts)} parts"


def write_adding(before: str, incoming: str) -> str:
    """A pill's text while a gradient is added to .grad, or stored in an empty .grad."""
    return f".grad{'' if before in ('', 'None') else ' ' + before} += {incoming}"


def make_cut_mark(graph: Graph, row: int) -> Box:
    """A cut: scissors, the call, its line. The scissors are drawn elsewhere; this reserves their room."""
    cuts = graph.trace.cuts
    words = f"{CUT_WORDS[cuts.kind[row]]}  {write_place(cuts.span[row])}".rstrip()
    return Box("cut", round(40 + text_width(words, CODE_SIZE), 1), 24.0, (Text(30, 16, words, "name", CODE_SIZE),))


def make_more_pill(words: str) -> Box:
    """A pill that says how many more there are than fit."""
    return Box("more", round(24 + text_width(words, CODE_SIZE), 1), 24.0, (Text(12, 16, words, "name", CODE_SIZE),))


def make_none_stub() -> Box:
    """An operand that gets no gradient."""
    return Box("none", 42.0, 18.0, (Text(14, 13, "None", "name", SMALL_SIZE),))

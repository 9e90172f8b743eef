"""The picture as words: labels for screen readers, and the graph as text."""

from app.pictures.graph.fold import Fold
from app.pictures.graph.graph import Graph
from app.pictures.layout.view import Shown, flatten
from graders.contract.trace import Shape, Span

REMADE = "made again in backward"
_UNITS = ("bytes", "kB", "MB", "GB", "TB")
_MAX_LISTED = 6
_KIND_WORDS = {
    "custom": "a custom Function",
    "inplace": "writes in place",
    "checkpoint": "a checkpointed call",
    "opaque": "not looked into",
}
CUT_WORDS = {
    "detach": ".detach()",
    "data": ".data",
    "item": ".item()",
    "tolist": ".tolist()",
    "numpy": ".numpy()",
    "float": "float()",
    "format": "formatting",
    "parameter": "nn.Parameter()",
    "no_grad": "no_grad",
    "inference_mode": "inference_mode",
    "comparison": "comparison",
    "integer": "to integers",
}
CUT_REASONS = {
    "detach": "detach() makes a tensor without history",
    "data": ".data hands out the values without history",
    "item": "item() makes a Python number",
    "tolist": "tolist() makes Python numbers",
    "numpy": "numpy() leaves torch",
    "float": "a conversion to a Python number",
    "format": "a text holds the number alone",
    "parameter": "nn.Parameter() makes a new leaf",
    "no_grad": "under no_grad nothing is recorded",
    "inference_mode": "under inference_mode nothing is recorded",
    "comparison": "a comparison has no gradient",
    "integer": "integers have no gradient",
}


def write_bytes(count: int) -> str:
    """`24 bytes`, `4.1 kB`: powers of 1,000, with one decimal below 10 of a larger unit."""
    size, unit = float(count), 0
    while size >= 999.5 and unit < len(_UNITS) - 1:
        size, unit = size / 1000, unit + 1
    number = f"{size:.1f}" if unit and size < 9.95 else f"{size:.0f}"
    return f"{number} {'byte' if count == 1 else _UNITS[unit]}"


def write_shape(shape: Shape) -> str:
    """The shape as Python writes a tuple."""
    return str(tuple(shape))


def write_place(span: Span | None) -> str:
    return f"line {span[0]}" if span is not None else ""


def drop_shape(text: str) -> str:
    """A rendered gradient without its shape, which is the forward output's: `(2,) [1.0, 1.0]` -> `[1.0, 1.0]`."""
    if not text.startswith("("):
        return text
    _, closing, rest = text.partition(") ")
    return rest if closing else text


def count_words(number: int, singular: str) -> str:
    plural = singular[:-1] + "ves" if singular == "leaf" else singular + "s"
    return f"{number:,} {singular if number == 1 else plural}"


def describe_node(graph: Graph, node: int) -> str:
    """One sentence: `exp (ExpBackward0), made by "x.exp()" at line 3 in net.act, gives shape (3,)`."""
    nodes = graph.trace.nodes
    if node in graph.leaf_set:
        return describe_leaf(graph, node)
    face = graph.face(node)
    parts = [name_operation(graph, node)]
    if nodes.kind[node] in _KIND_WORDS:
        parts.append(_KIND_WORDS[nodes.kind[node]])
    code, span = graph.code(nodes.span[node]), nodes.span[node]
    module = f" in {nodes.module[node]}" if nodes.module[node] else ""
    if span is not None:
        parts.append((f'made by "{code}" at line {span[0]}' if code else f"made at line {span[0]}") + module)
    elif module:
        parts.append(f"made{module}")
    parts.append(_tell_output(graph, face))
    if saved := saved_words(graph, graph.members(node)):
        parts.append(saved)
    return ", ".join(parts)


def name_operation(graph: Graph, node: int) -> str:
    """`exp (ExpBackward0)`; a learner's own engine has no backward nodes to name."""
    name = graph.trace.nodes.name[node]
    return f"{graph.title(node)} ({name})" if name else graph.title(node)


def is_number(graph: Graph, node: int) -> bool:
    """Whether the value is a plain number. A learner's own engine mostly works on numbers, which have no shape."""
    return graph.trace.engine == "learner" and not graph.trace.nodes.shape[node]


def _tell_output(graph: Graph, node: int) -> str:
    nodes = graph.trace.nodes
    variable, values = nodes.variable[node], nodes.values[node]
    if is_number(graph, node):
        return " ".join(filter(None, ("gives", variable and f"{variable} =", values or "a number")))
    gives = f"gives {variable} of shape" if variable else "gives shape"
    return f"{gives} {write_shape(nodes.shape[node])}" + (f" with values {values}" if values else "")


def saved_words(graph: Graph, members: tuple[int, ...]) -> str:
    """`saves 24 bytes: result`, or "" where nothing is saved."""
    nodes = graph.trace.nodes
    count = sum(nodes.saved_bytes[node] for node in members)
    names = ", ".join(nodes.saved[node] for node in members if nodes.saved[node])
    if not count:
        if REMADE in names:
            return f"keeps nothing for {names}"
        return f"saves {names}, counted at another node" if names else ""
    return f"saves {write_bytes(count)}: {names}" if names else f"saves {write_bytes(count)}"


def describe_leaf(graph: Graph, leaf: int) -> str:
    nodes = graph.trace.nodes
    name = nodes.variable[leaf] or "a leaf without a name"
    holds = f"of shape {write_shape(nodes.shape[leaf])}"
    if is_number(graph, leaf):
        holds = f"= {nodes.values[leaf]}" if nodes.values[leaf] else "a number"
    return f"leaf {name} {holds}, its gradient goes to .grad"


def describe_cut(graph: Graph, row: int) -> str:
    """What was cut, by which call and where: `cut: y leaves the graph by .detach() at line 3; detach() makes ...`."""
    cuts = graph.trace.cuts
    node = cuts.node[row]
    what = _name_output(graph, node) if node is not None else "a value"
    place = f" at {write_place(cuts.span[row])}" if cuts.span[row] is not None else ""
    return f"cut: {what} leaves the graph by {CUT_WORDS[cuts.kind[row]]}{place}; {CUT_REASONS[cuts.kind[row]]}"


def _name_output(graph: Graph, node: int) -> str:
    variable = graph.trace.nodes.variable[graph.face(node)]
    return variable or f"the output of {graph.title(node)}"


def describe_fold(graph: Graph, fold: Fold) -> str:
    """What a closed fold holds, in words."""
    held = sum(graph.trace.nodes.saved_bytes[node] for node in fold_members(graph, fold))
    saved = f", saves {write_bytes(held)}" if held else ""
    over = f" {fold.over}," if fold.over else ""
    return f"{fold_title(graph, fold)}:{over} {fold_size(fold)}{saved}"


def fold_members(graph: Graph, fold: Fold) -> list[int]:
    """The nodes that a fold represents, including absorbed ones but not leaves."""
    members: list[int] = []
    for node in graph.order[fold.first : fold.last + 1]:
        members.extend(graph.members(node))
    return members


def fold_title(graph: Graph, fold: Fold) -> str:
    """A module is named by the end of its path, because the frame around it already names the rest."""
    if fold.kind == "module" or (fold.kind == "repeat" and fold.period == 1 and fold.parts[0].kind == "module"):
        head, _, tail = fold.label.rpartition(".")
        if tail[:1].isdigit():
            return f"{head.rpartition('.')[2]}.{tail}" if head else tail
        return tail
    if fold.kind != "stretch":
        return fold.label
    spans = graph.trace.nodes.span
    lines = [span[0] for node in graph.order[fold.first : fold.last + 1] if (span := spans[node]) is not None]
    if not lines:
        return fold.label
    return f"line {lines[0]}" if min(lines) == max(lines) else f"lines {min(lines)} to {max(lines)}"


def fold_size(fold: Fold) -> str:
    """`10 times 77 operations`, `77 operations`."""
    if fold.kind != "repeat":
        return count_words(fold.size, "operation")
    each = fold.size // fold.times
    which = f"{fold.offset + 1:,} to {fold.offset + fold.times:,}"
    return (
        f"{fold.times:,} times"
        + (f" {count_words(each, 'operation')}" if each > 1 else "")
        + f", {which} of {fold.total:,}"
    )


def describe_graph(graph: Graph) -> str:
    """One sentence for the whole picture."""
    trace = graph.trace
    roots = [_name_source(graph, root) for root in sorted(graph.started)[:_MAX_LISTED]]
    told = [count_words(len(graph.order), "operation"), count_words(len(graph.leaves), "leaf")]
    if trace.cuts.kind:
        told.append(count_words(len(trace.cuts.kind), "cut"))
    ends = f"; backward starts at {' and '.join(roots)}" if roots else ""
    return f"Graph of {', '.join(told[:-1])} and {told[-1]}{ends}. Inputs are at the top, results below."


def write_text(graph: Graph, view: tuple[Shown, ...]) -> str:
    """The picture as lines of text, in forward order: each operation with the sources of its operands."""
    lines = [describe_graph(graph)]
    for number, shown in enumerate(flatten(view), 1):
        lines.append(f"{number}. {_write_item(graph, shown.fold)}")
    lines.extend(describe_leaf(graph, leaf) for leaf in graph.leaves[: 4 * _MAX_LISTED])
    if len(graph.leaves) > 4 * _MAX_LISTED:
        lines.append(f"and {len(graph.leaves) - 4 * _MAX_LISTED:,} more leaves")
    lines.extend(describe_cut(graph, row) for row in range(min(len(graph.trace.cuts.kind), 4 * _MAX_LISTED)))
    return "\n".join((*lines, *graph.trace.notes))


def _write_item(graph: Graph, fold: Fold) -> str:
    if fold.kind != "op":
        return describe_fold(graph, fold)
    node = graph.order[fold.first]
    sources = [_name_source(graph, item.node) for item in graph.operands(node)]
    origin = f", from {' and '.join(sources[:_MAX_LISTED])}" if sources else ""
    more = f" and {len(sources) - _MAX_LISTED:,} more" if len(sources) > _MAX_LISTED else ""
    return describe_node(graph, node) + origin + more


def _name_source(graph: Graph, node: int) -> str:
    variable = graph.trace.nodes.variable[graph.face(node)]
    if node in graph.leaf_set:
        return variable or "a leaf"
    return f"{graph.title(node)} ({variable})" if variable else graph.title(node)

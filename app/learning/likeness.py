"""How much of two programs is the same, whatever their names and layout. Pure: it reads text and decides nothing.

A program becomes the sequence of its syntax tree's kinds, in preorder. Each run of six kinds is a gram. Names that
the program itself binds are all the same kind, so renaming changes nothing; comments, docstrings and annotations are
left out. A likeness is the share of a program's own nodes that lie in grams which the other has too, as the mean of
both. "Own" leaves out what everybody was given: the starter's grams, and those that most of the class has.

A likeness ranks pairs for somebody who then reads both programs. It is no probability, and no number of it means
that anybody copied: in a small exercise all right answers look alike.
"""

import ast
import warnings
from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

GRAM_KINDS = 6
MIN_OWN_NODES = 12
"""Fewer than these are too little to compare: 148 of the 658 answers in this repository, most of them bug hunts."""
MAX_KINDS = 20_000
"""A program of 64 KiB that a person wrote has fewer."""
COMMON_FROM = 8
"""From this many programs on, what more than half of them have counts as given. In fewer, two friends are a half."""

Gram = int


class Unreadable(Exception):
    """The text is no program of this Python, or too long a one."""


@dataclass(frozen=True)
class Print:
    """A program without its names: its grams in order, and the line of each kind. Only good within one process.

    Arrays, because the prints of a class are kept: 12 bytes per kind instead of 50.
    """

    grams: "array[Gram]"
    lines: "array[int]"


@dataclass(frozen=True)
class Pair:
    """Two authors, and how alike their programs are, from 0 to 1."""

    left: str
    right: str
    likeness: float


@dataclass(frozen=True)
class Comparison:
    """All pairs, the most alike first; and who had too little that was not given to them. `given` are those grams."""

    pairs: tuple[Pair, ...]
    too_little: tuple[str, ...]
    given: frozenset[Gram]


@dataclass(frozen=True)
class _Own:
    """What a program has beyond the given: each gram with the nodes inside it as bits, and the number of nodes."""

    bits: Mapping[Gram, int]
    nodes: int


def make_print(source: str) -> Print:
    """Raises Unreadable."""
    try:
        with warnings.catch_warnings():
            # A learner's odd escape is no matter of ours.
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(str(error)) from error
    kinds, lines = [], []
    for kind, line in _walk(tree):
        kinds.append(kind)
        lines.append(line)
        if len(kinds) > MAX_KINDS:
            raise Unreadable(f"more than {MAX_KINDS} nodes")
    grams = (hash(tuple(kinds[start : start + GRAM_KINDS])) for start in range(len(kinds) - GRAM_KINDS + 1))
    return Print(array("q", grams), array("I", lines))


def compare(
    prints: Mapping[str, Print], starter: Print | None, others: Mapping[str, Print] | None = None
) -> Comparison:
    """Compare every author's program with every other's.

    `others`, such as the reference, are compared with the authors' as well, but they do not say what is common.
    """
    given = frozenset(starter.grams if starter else ()) | _find_common(prints.values())
    own = {name: _find_own(each, given) for name, each in {**prints, **(others or {})}.items()}
    compared = {name: each for name, each in own.items() if each.nodes >= MIN_OWN_NODES}
    too_little = tuple(name for name in prints if name not in compared)
    outside = frozenset(others or ())
    pairs = [pair for pair in _rate(compared) if not {pair.left, pair.right} <= outside]
    ranked = sorted(pairs, key=lambda pair: (-pair.likeness, pair.left, pair.right))
    return Comparison(tuple(ranked), too_little, given)


def find_shared_lines(one: Print, other: Print, given: Collection[Gram]) -> frozenset[int]:
    """The lines of `one` whose nodes lie in grams that `other` has too and that were not given."""
    theirs = set(other.grams) - set(given)
    own = _find_own(one, given)
    covered = 0
    for gram, bits in own.bits.items():
        if gram in theirs:
            covered |= bits
    return frozenset(line for place, line in enumerate(one.lines) if covered >> place & 1)


def find_groups(pairs: Sequence[Pair]) -> tuple[tuple[str, ...], ...]:
    """Authors of three or more programs of which every two are among `pairs`: the group of the first pair first."""
    near: dict[str, set[str]] = {}
    for pair in pairs:
        near.setdefault(pair.left, set()).add(pair.right)
        near.setdefault(pair.right, set()).add(pair.left)
    groups: list[frozenset[str]] = []
    for pair in pairs:
        members = {pair.left, pair.right}
        # In the order of the pairs, so that who is most like them comes in first.
        for name in dict.fromkeys(name for each in pairs for name in (each.left, each.right)):
            if name not in members and members <= near[name]:
                members.add(name)
        if len(members) > 2 and not any(members <= group for group in groups):
            groups.append(frozenset(members))
    return tuple(tuple(sorted(group)) for group in groups)


def _find_common(prints: Collection[Print]) -> frozenset[Gram]:
    if len(prints) < COMMON_FROM:
        return frozenset()
    counts = Counter(gram for each in prints for gram in set(each.grams))
    return frozenset(gram for gram, count in counts.items() if count > len(prints) / 2)


def _find_own(made: Print, given: Collection[Gram]) -> _Own:
    inside = (1 << GRAM_KINDS) - 1
    taken = 0
    for place, gram in enumerate(made.grams):
        if gram in given:
            taken |= inside << place
    bits: dict[Gram, int] = {}
    for place, gram in enumerate(made.grams):
        if gram not in given:
            bits[gram] = bits.get(gram, 0) | (inside << place & ~taken)
    return _Own(bits, len(made.lines) - taken.bit_count())


def _rate(own: Mapping[str, _Own]) -> Iterator[Pair]:
    """Every pair that shares anything. Grams that the same authors hold are joined first: most grams go together."""
    names = tuple(own)
    holders: dict[Gram, list[int]] = {}
    for number, name in enumerate(names):
        for gram in own[name].bits:
            holders.setdefault(gram, []).append(number)
    sets: dict[tuple[int, ...], int] = {}
    set_of = {gram: sets.setdefault(tuple(held), len(sets)) for gram, held in holders.items() if len(held) > 1}
    members = tuple(sets)
    shares: dict[tuple[int, int], float] = {}
    for number, name in enumerate(names):
        for other, covered in _cover(own[name], set_of, members).items():
            if other != number:
                pair = (min(number, other), max(number, other))
                shares[pair] = shares.get(pair, 0.0) + covered.bit_count() / own[name].nodes
    for (left, right), both in shares.items():
        yield Pair(names[left], names[right], both / 2)


def _cover(own: _Own, set_of: Mapping[Gram, int], members: Sequence[tuple[int, ...]]) -> dict[int, int]:
    """For each author, the nodes of this program that lie in grams which the author has too."""
    by_set: dict[int, int] = {}
    for gram, bits in own.bits.items():
        held = set_of.get(gram)
        if held is not None:
            by_set[held] = by_set.get(held, 0) | bits
    covered: dict[int, int] = {}
    for held, bits in by_set.items():
        for other in members[held]:
            covered[other] = covered.get(other, 0) | bits
    return covered


END = "end"
"""The kind that closes a block of statements."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LEFT_OUT = frozenset({"ctx", "annotation", "returns", "type_comment", "type_params", "type_ignores"})
Step = ast.AST | str


def _walk(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The kinds of a tree in preorder with their lines. A loop and not a recursion: learners' trees can be deep."""
    bound, imported = _find_names(tree)
    waiting: list[tuple[Step, int]] = [(statement, 1) for statement in reversed(tree.body)]
    while waiting:
        step, line = waiting.pop()
        if isinstance(step, str):
            yield step, line
            continue
        line = getattr(step, "lineno", line)
        if _says_nothing(step):
            continue
        yield _name_kind(step, bound, imported), line
        waiting.extend((child, line) for child in reversed(list(_list_children(step))))


def _find_names(tree: ast.AST) -> tuple[frozenset[str], dict[str, str]]:
    """The names that the program binds, and those that it imports with what they stand for."""
    bound: set[str] = set()
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif (
            isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name
        ):
            bound.add(node.name)
        elif isinstance(node, ast.alias):
            imported[node.asname or node.name.split(".")[0]] = node.name
    return frozenset(bound), imported


def _says_nothing(node: ast.AST) -> bool:
    """A docstring or another bare constant, a declaration without a value, and `pass`."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.AnnAssign) and node.value is None)


def _list_children(node: ast.AST) -> Iterator[Step]:
    if isinstance(node, ast.AugAssign):
        # As `x = x + y`, which is how it is most easily disguised.
        yield from (node.target, "BinOp", node.target, node.op, node.value)
        return
    for name, value in ast.iter_fields(node):
        if name in LEFT_OUT:
            continue
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            yield from (each for each in value if isinstance(each, ast.AST))
            if value and isinstance(value[0], ast.stmt):
                yield END


def _name_kind(node: ast.AST, bound: frozenset[str], imported: Mapping[str, str]) -> str:
    match node:
        case ast.Name():
            return "v" if node.id in bound else f"n:{imported.get(node.id, node.id)}"
        case ast.Attribute():
            return f"a:{node.attr}"
        case ast.Constant():
            return f"c:{type(node.value).__name__}"
        case ast.alias():
            return f"i:{node.name}"
        case ast.AugAssign() | ast.AnnAssign():
            return "Assign"
    return type(node).__name__

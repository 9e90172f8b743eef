"""Tells which earlier cells of a notebook a cell needs, and which statements need a missing module. Pure."""

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

REACHES_BACK = frozenset({"backward", "step", "zero_grad", "load_state_dict", "fit", "train_step"})
"""Methods that change more than what they are called on: what a loss was computed from, what an optimizer holds."""

MUTATING = frozenset(
    {
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "sort",
        "reverse",
        "update",
        "add",
        "discard",
        "setdefault",
    }
)


@dataclass(frozen=True)
class Names:
    """What a piece of code reads, binds, changes without binding it, and whether it changes what that came from."""

    used: frozenset[str]
    given: frozenset[str]
    changed: frozenset[str]
    reaches_back: bool


@dataclass(frozen=True)
class KnownCell:
    """A cell that may run before another one."""

    id: str
    source: str
    names: Names


@dataclass
class _Walk:
    used: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    reaches_back: bool = False


def read_names(source: str) -> Names:
    """Of code that parses."""
    walk = _Walk()
    for node in ast.walk(ast.parse(source)):
        _note_bound(node, walk)
        _note_changed(node, walk)
    return Names(frozenset(walk.used), frozenset(walk.given), frozenset(walk.changed), walk.reaches_back)


def _note_bound(node: ast.AST, walk: _Walk) -> None:
    match node:
        case ast.Name(id=name, ctx=ast.Load()):
            walk.used.add(name)
        case ast.Name(id=name):
            walk.given.add(name)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            walk.given.add(name)
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            walk.given |= {(alias.asname or alias.name).split(".")[0] for alias in aliases}
        case ast.AugAssign(target=ast.Name(id=name)):
            walk.used.add(name)


def _note_changed(node: ast.AST, walk: _Walk) -> None:
    """`x[0] = 1`, `x.grad = None`, `x.append(1)`, `x.mul_(2)`, and the arguments of a call that is a whole line."""
    match node:
        case ast.Subscript(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
            walk.changed |= _root(node)
        case ast.AugAssign(target=target):
            walk.changed |= _root(target)
        case ast.Call(func=ast.Attribute(attr=method) as called):
            if method in MUTATING or method in REACHES_BACK or (method.endswith("_") and not method.endswith("__")):
                walk.changed |= _root(called)
            walk.reaches_back |= method in REACHES_BACK
        case ast.Expr(value=ast.Call(func=function, args=given)):
            walk.changed |= {name for value in given for name in _root(value)}
            if isinstance(function, ast.Attribute):
                walk.changed |= _root(function)


def _root(node: ast.AST) -> set[str]:
    """The variable that `x.grad.data[0]` begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def find_needed(names: Names, earlier: Sequence[KnownCell]) -> list[KnownCell]:
    """The earlier cells that give or change what a cell reads, and those that they need, in their order."""
    wanted = set(names.used) | set(names.changed)
    chosen: list[KnownCell] = []
    for cell in reversed(earlier):
        changes = cell.names.given | cell.names.changed
        if cell.names.reaches_back:
            changes |= _reached_by(cell, earlier)
        if changes & wanted:
            chosen.append(cell)
            wanted |= cell.names.used | cell.names.changed
    return chosen[::-1]


def _reached_by(cell: KnownCell, earlier: Sequence[KnownCell]) -> frozenset[str]:
    """Every name that led to what the cell calls `backward` or `step` on."""
    before = earlier[: [other.id for other in earlier].index(cell.id)]
    wanted = set(cell.names.used)
    for other in reversed(before):
        if other.names.given & wanted:
            wanted |= other.names.used | other.names.given
    return frozenset(wanted)


@dataclass
class Missing:
    """The modules that a cell cannot import here, and every name that comes from them."""

    known: Collection[str]
    names: dict[str, str] = field(default_factory=dict)
    """By name, the module that it needs."""

    def drop(self, source: str) -> tuple[str, list[str]]:
        """The code with each statement that needs such a module as a comment, and the modules that were missed."""
        lines = source.split("\n")
        missed: list[str] = []
        for statement in ast.parse(source).body:
            module = self._find_module(statement)
            if not module:
                self._forget(statement)
                continue
            missed.append(module)
            first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
            for number in range(first - 1, statement.end_lineno or first):
                lines[number] = f"# {lines[number]}".rstrip()
        return "\n".join(lines), list(dict.fromkeys(missed))

    def _find_module(self, statement: ast.stmt) -> str:
        """The module that a statement needs and that is missing; what it binds is missing from then on."""
        for module, names in _imports(statement):
            if module not in self.known:
                self.names |= dict.fromkeys(names, module)
                return module
        found = read_names(ast.unparse(statement))
        needed = next((self.names[name] for name in sorted(found.used) if name in self.names), "")
        if needed:
            self.names |= dict.fromkeys(found.given, needed)
        return needed

    def _forget(self, statement: ast.stmt) -> None:
        """A name that is bound anew, to something that is there, is not missing any more."""
        for name in read_names(ast.unparse(statement)).given:
            self.names.pop(name, None)


def _imports(statement: ast.stmt) -> Iterator[tuple[str, list[str]]]:
    """Modules by their first name, with the names that the statement binds."""
    if isinstance(statement, ast.ImportFrom) and not statement.level:
        yield (statement.module or "").split(".")[0], [alias.asname or alias.name for alias in statement.names]
    elif isinstance(statement, ast.Import):
        for alias in statement.names:
            yield alias.name.split(".")[0], [(alias.asname or alias.name).split(".")[0]]

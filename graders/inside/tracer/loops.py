"""Which names a program uses as loop variables: such a name says where a loop stands, and not what a tensor is."""

import ast
from collections.abc import Iterator
from functools import lru_cache


@lru_cache(maxsize=8)
def find_loop_names(source: str) -> frozenset[str]:
    """The targets of every `for` statement of the source, and of no other assignment."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    loops = {
        name for node in ast.walk(tree) if isinstance(node, ast.For | ast.AsyncFor) for name in _list(node.target)
    }
    assigned = {name for node in ast.walk(tree) for name in _list_assigned(node)}
    return frozenset(loops - assigned)


def _list_assigned(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _list(target)
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr):
        yield from _list(node.target)


def _list(target: ast.AST) -> Iterator[str]:
    yield from (
        node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )

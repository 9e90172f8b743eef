"""Runs a notebook's cell: code without a file, whose text only linecache knows."""

import linecache
from itertools import count
from typing import Any

_cells = count(1)


def run_cell(source: str, namespace: dict[str, Any] | None = None) -> dict[str, Any]:
    """As a notebook does: each cell has a file name of its own, and all share one namespace."""
    name = f"<cell {next(_cells)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace = {"__name__": "__main__"} if namespace is None else namespace
    exec(compile(source, name, "exec"), namespace)
    return namespace

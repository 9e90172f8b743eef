"""The learner's names for values, read from variables without running any of the learner's code."""

from collections.abc import Iterator
from typing import Any

from .protocol import is_value, read_instance

MAX_ITEMS = 256
MAX_DEPTH = 4


def iterate_values(variables: dict[str, Any], module_name: str) -> Iterator[tuple[str, Any]]:
    """(name, value) for each value reachable from variables: plain variables first, then containers' contents."""
    named = [(name, thing) for name, thing in variables.items() if not name.startswith("__")]
    for name, thing in named:
        if is_value(thing):
            yield name, thing
    for name, thing in named:
        if not is_value(thing):
            yield from _enter(name, thing, module_name, MAX_DEPTH)


def _enter(name: str, thing: Any, module_name: str, depth: int) -> Iterator[tuple[str, Any]]:
    if is_value(thing):
        yield name, thing
    elif depth > 0:
        for path, part in _list_parts(name, thing, module_name):
            yield from _enter(path, part, module_name, depth - 1)


def _list_parts(name: str, thing: Any, module_name: str) -> list[tuple[str, Any]]:
    kind = type(thing)
    if kind in (list, tuple):
        return [(f"{name}[{at}]", part) for at, part in enumerate(thing[:MAX_ITEMS])]
    if kind is dict:
        keys = list(thing)[:MAX_ITEMS]
        return [(f"{name}[{key!r}]", thing[key]) for key in keys if type(key) in (str, int)]
    if kind.__module__ == module_name and not issubclass(kind, type):
        return [
            (f"{name}.{key}", part)
            for key, part in list(read_instance(thing).items())[:MAX_ITEMS]
            if type(key) is str
        ]
    return []

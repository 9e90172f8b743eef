"""The learner's names for values, read from variables without running any of the learner's code."""

from collections.abc import Iterator
from typing import Any

from .protocol import is_value, read_instance

MAX_ITEMS = 256
MAX_DEPTH = 12
"""A weight of a network in a wrapper: wrapper.model.layers[0].neurons[0].w[0] is eight deep."""
MAX_ENTERED = 20_000


def iterate_values(
    variables: dict[str, Any], module_name: str, loop_names: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Any]]:
    """(name, value) for each value that variables lead to: plain variables, what containers hold, loop variables."""
    named = [(name, thing) for name, thing in variables.items() if not name.startswith("__")]
    plain = [(name, thing) for name, thing in named if is_value(thing)]
    yield from (pair for pair in plain if pair[0] not in loop_names)
    entered: set[int] = set()
    for in_loop in (False, True):
        for name, thing in named:
            if not is_value(thing) and (name in loop_names) is in_loop:
                yield from _enter(name, thing, module_name, MAX_DEPTH, entered)
    yield from (pair for pair in plain if pair[0] in loop_names)


def _enter(name: str, thing: Any, module_name: str, depth: int, entered: set[int]) -> Iterator[tuple[str, Any]]:
    """Each container is entered once: objects that refer to one another would have endless paths."""
    if is_value(thing):
        yield name, thing
    elif depth > 0 and id(thing) not in entered and len(entered) < MAX_ENTERED:
        parts = _list_parts(name, thing, module_name)
        if parts:
            entered.add(id(thing))
        for path, part in parts:
            yield from _enter(path, part, module_name, depth - 1, entered)


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

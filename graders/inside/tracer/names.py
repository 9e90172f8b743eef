"""The learner's names for tensors and modules, read from variables without running any of the learner's code."""

import weakref
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch

MAX_ITEMS = 256
MAX_DEPTH = 3
MAX_PASSES = 20_000


def iterate_tensors(
    variables: dict[str, Any], module_name: str, loop_names: frozenset[str] = frozenset()
) -> Iterator[tuple[str, torch.Tensor]]:
    """(name, tensor) for every tensor reachable from variables: parameters, plain variables, then containers."""
    shown = [(name, value) for name, value in variables.items() if not name.startswith("__")]
    named = [pair for pair in shown if pair[0] not in loop_names]
    yield from _iterate_named(named, module_name)
    yield from _iterate_named([pair for pair in shown if pair[0] in loop_names], module_name)


def _iterate_named(named: list[tuple[str, Any]], module_name: str) -> Iterator[tuple[str, torch.Tensor]]:
    for name, value in named:
        if issubclass(type(value), torch.nn.Module):
            yield from list_parameters(name, value)
    for name, value in named:
        if issubclass(type(value), torch.Tensor):
            yield name, value
    for name, value in named:
        if not issubclass(type(value), (torch.Tensor, torch.nn.Module)):
            yield from _enter(name, value, module_name, MAX_DEPTH)


def list_parameters(name: str, module: Any) -> list[tuple[str, torch.Tensor]]:
    """A module's parameters by dotted path; empty for a module whose __init__ is still running."""
    try:
        return [(f"{name}.{path}", parameter) for path, parameter in torch.nn.Module.named_parameters(module)]
    except Exception:  # noqa: BLE001 - a module whose __init__ has not finished has nothing to list
        return []


def list_modules(module: Any) -> list[tuple[str, Any]]:
    """A module and the modules inside it, by dotted path."""
    try:
        return list(torch.nn.Module.named_modules(module))
    except Exception:  # noqa: BLE001 - a module whose __init__ has not finished has nothing to list
        return [("", module)]


def _enter(name: str, value: Any, module_name: str, depth: int) -> Iterator[tuple[str, torch.Tensor]]:
    if issubclass(type(value), torch.Tensor):
        yield name, value
    elif depth > 0:
        for path, part in _list_parts(name, value, module_name):
            yield from _enter(path, part, module_name, depth - 1)


def _list_parts(name: str, value: Any, module_name: str) -> list[tuple[str, Any]]:
    kind = type(value)
    if kind in (list, tuple):
        return [(f"{name}[{at}]", part) for at, part in enumerate(value[:MAX_ITEMS])]
    if kind is dict:
        keys = list(value)[:MAX_ITEMS]
        return [(f"{name}[{key!r}]", value[key]) for key in keys if type(key) in (str, int)]
    if issubclass(kind, torch.nn.Module):
        return list(list_parameters(name, value))
    if getattr(kind, "__module__", None) == module_name and not isinstance(value, type):
        parts = getattr(value, "__dict__", None)
        if type(parts) is dict:
            return [(f"{name}.{key}", part) for key, part in list(parts.items())[:MAX_ITEMS] if type(key) is str]
    return []


class Pass(NamedTuple):
    """One call of a module, by the number of its path, and the nodes that it made: start <= n < end."""

    path: int
    number: int
    start: int
    end: int


class ModulePaths:
    """Dotted paths of running modules, in a stack that global forward hooks maintain."""

    def __init__(self) -> None:
        self.paths: list[str] = [""]
        self.current = 0
        self._numbers: dict[str, int] = {"": 0}
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._stack: list[tuple[int, int, int, int]] = []
        self._times: dict[int, int] = {}
        self.passes: list[Pass] = []

    def enter(self, module: Any, find_name: Any, counter: int) -> None:
        """A module begins its forward; `find_name(module)` names one that no known module contains."""
        known = self._known.get(id(module))
        if known is None or known[0]() is not module:
            self._learn(module, find_name)
            known = self._known[id(module)]
        number = self._times[known[1]] = self._times.get(known[1], 0) + 1
        self._stack.append((id(module), known[1], number, counter))
        self.current = known[1]

    def leave(self, module: Any, counter: int) -> None:
        """A module ends; modules inside it that an error left open end too."""
        for depth in range(len(self._stack) - 1, -1, -1):
            if self._stack[depth][0] == id(module):
                _, path, number, started = self._stack[depth]
                if len(self.passes) < MAX_PASSES and counter > started:
                    self.passes.append(Pass(path, number, started, counter))
                del self._stack[depth:]
                break
        self.current = self._stack[-1][1] if self._stack else 0

    def list_repeated(self) -> list[Pass]:
        """The calls of modules that were called more than once, in the order of their beginning."""
        repeated = [each for each in self.passes if self._times[each.path] > 1]
        return sorted(repeated, key=lambda each: (each.start, -each.end))

    def has_path(self, path: str) -> bool:
        return path in self._numbers

    def _learn(self, module: Any, find_name: Any) -> None:
        if self._stack:
            parent = self.paths[self._stack[-1][1]]
            name = f"{parent}.{type(module).__name__}" if parent else type(module).__name__
        else:
            name = find_name(module)
        for path, part in list_modules(module):
            known = self._known.get(id(part))
            if known is None or known[0]() is not part:
                self._known[id(part)] = (weakref.ref(part), self._number(f"{name}.{path}" if path else name))

    def _number(self, path: str) -> int:
        number = self._numbers.get(path)
        if number is None:
            number = self._numbers[path] = len(self.paths)
            self.paths.append(path)
        return number


def find_module_name(module: Any, scopes: Iterator[dict[str, Any]]) -> str:
    """The variable that holds the module, or a module around it, in the nearest scope; else its class."""
    for variables in scopes:
        for name, value in variables.items():
            if value is module and name != "self":
                return name
        for name, value in variables.items():
            if issubclass(type(value), torch.nn.Module) and name != "self":
                for path, part in list_modules(value):
                    if part is module:
                        return f"{name}.{path}"
    return type(module).__name__

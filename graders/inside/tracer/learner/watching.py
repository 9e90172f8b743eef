"""Watches the learner's classes while their program runs: new values, calls of backward, changes of `.grad`."""

import builtins
import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, FunctionType, MemberDescriptorType
from typing import Any

from .protocol import MISSING, Stored, find_class_attribute, has_slot_value, read_instance


@dataclass(slots=True)
class Gate:
    """Whether changes are observed, and the callback: (value, before, after, the frame that sets it)."""

    notice: Callable[[Any, Any, Any, FrameType], None]
    is_open: bool = False


class GradWatch(Stored):
    """Replaces a class's `grad` and reports each change. The instance keeps its value in the same place as before."""

    def __init__(self, slot: MemberDescriptorType | None, default: Any, gate: Gate) -> None:
        self._slot = slot
        self._default = default
        self._gate = gate

    def read(self, value: Any) -> Any:
        if self._slot is not None:
            return self._slot.__get__(value) if has_slot_value(self._slot, value) else MISSING
        return read_instance(value).get("grad", self._default)

    def __get__(self, value: Any, kind: type) -> Any:
        found = self._of_class() if value is None else self.read(value)
        if found is MISSING:
            what = f"type object '{kind.__name__}'" if value is None else f"'{kind.__name__}' object"
            raise AttributeError(f"{what} has no attribute 'grad'", name="grad", obj=kind if value is None else value)
        return found

    def _of_class(self) -> Any:
        return self._slot if self._slot is not None else self._default

    def __set__(self, value: Any, after: Any) -> None:
        if self._slot is None:
            attributes = read_instance(value)
            before = attributes.get("grad", self._default)
            attributes["grad"] = after
        else:
            before = self.read(value)
            self._slot.__set__(value, after)
        if self._gate.is_open:
            self._gate.notice(value, before, after, sys._getframe(1))

    def __delete__(self, value: Any) -> None:
        if self._slot is not None:
            self._slot.__delete__(value)
        elif read_instance(value).pop("grad", MISSING) is MISSING:
            raise AttributeError("grad", name="grad", obj=value)


class Changes:
    """Class attributes replaced during a recording, with the attributes that they replaced."""

    def __init__(self) -> None:
        self._before: dict[tuple[type, str], Any] = {}

    def put(self, kind: type, name: str, value: Any) -> None:
        self._before.setdefault((kind, name), kind.__dict__.get(name, MISSING))
        type.__setattr__(kind, name, value)

    @contextmanager
    def lifted(self, name: str) -> Iterator[None]:
        """Removes our attributes of this name for a while, so that they do not deepen a method's recursion."""
        lifted = {
            kind: kind.__dict__[name] for kind, of in self._before if of == name and is_ours(kind.__dict__.get(name))
        }
        for kind in lifted:
            type.__setattr__(kind, name, self._before[kind, name])
        try:
            yield
        finally:
            for kind, ours in lifted.items():
                if kind.__dict__.get(name) is self._before[kind, name]:
                    type.__setattr__(kind, name, ours)

    def take_back(self) -> None:
        """Restores the replaced attributes, except those that the program has replaced again itself."""
        for (kind, name), before in self._before.items():
            if not is_ours(kind.__dict__.get(name)):
                continue
            if before is MISSING:
                type.__delattr__(kind, name)
            else:
                type.__setattr__(kind, name, before)
        self._before.clear()


def is_ours(attribute: Any) -> bool:
    if type(attribute) is FunctionType:
        return attribute.__module__ == __name__
    return type(attribute) is GradWatch


def watch_grad(changes: Changes, kind: type, gate: Gate) -> bool:
    """Watches the class's `grad`; False if the class computes it with its own code."""
    found = find_class_attribute(kind, "grad")
    if issubclass(type(found), GradWatch):
        return True
    slot = found if type(found) is MemberDescriptorType else None
    if slot is None and found is not MISSING and hasattr(type(found), "__get__"):
        return False
    changes.put(kind, "grad", GradWatch(slot, found, gate))
    return True


def wrap_init(original: FunctionType, made: Callable[[Any, FrameType], None]) -> Any:
    """The class's __init__, followed by a call of `made` with the instance."""

    def run(*args: Any, **kwargs: Any) -> None:
        original(*args, **kwargs)
        if args:
            made(args[0], sys._getframe(1))

    return disguise(run, original)


def wrap_backward(original: FunctionType, enclose: Callable[[Any, FrameType, Callable[[], Any]], Any]) -> Any:
    """The class's backward, run within `enclose`."""

    def run(*args: Any, **kwargs: Any) -> Any:
        if not args:
            return original(*args, **kwargs)
        return enclose(args[0], sys._getframe(1), lambda: original(*args, **kwargs))

    return disguise(run, original)


def disguise(run: Any, original: FunctionType) -> Any:
    """Name, signature and doc of the learner's function; the module remains ours, so that we can recognise it."""
    return functools.update_wrapper(run, original, ("__name__", "__qualname__", "__doc__"))


class ClassHook:
    """Reports each class that the program's source defines."""

    def __init__(self, filename: str, heard: Callable[[type], None]) -> None:
        self._filename = filename
        self._heard = heard
        self._original: Any = None

    def install(self) -> None:
        original = self._original = builtins.__build_class__

        def build(body: Any, name: Any, *bases: Any, **keywords: Any) -> Any:
            kind = original(body, name, *bases, **keywords)
            if isinstance(kind, type) and body.__code__.co_filename == self._filename:
                self._heard(kind)
            return kind

        builtins.__build_class__ = build  # type: ignore[assignment]

    def remove(self) -> None:
        builtins.__build_class__ = self._original

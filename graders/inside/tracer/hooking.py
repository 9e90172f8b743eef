"""Registers the tape's hooks on nodes, with less for each node than the handles that torch makes."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch.autograd import Function

Hooks = OrderedDict[Any, Any]
"""The hooks of one node, by a key that is gone with the hook: torch's own keys are numbers."""


@contextmanager
def registering() -> Iterator[None]:
    """Inside, `register_hook` returns what `remove` takes. Nothing of the program may run there."""
    kind: Any = Function
    kind._register_hook = staticmethod(_register)
    try:
        yield
    finally:
        # The original is inherited.
        del kind._register_hook


def _register(hooks: Hooks | None, hook: Any) -> tuple[Hooks, Any]:
    """What torch calls to add a hook to a node, whose hooks are None at first."""
    if hooks is None:
        hooks = OrderedDict()  # a dict that torch's handles of the program's own hooks can refer to weakly
    hooks[hook] = hook
    return hooks, (hooks, hook)


def remove(handles: list[Any]) -> None:
    """Removes the hooks that were registered inside, and those of a torch that does not ask `Function` for it."""
    for handle in handles:
        if type(handle) is tuple:
            handle[0].pop(handle[1], None)
        else:
            handle.remove()

"""Finds the value whose rule is running when a `.grad` changes, from the variables of the running functions."""

from types import FrameType, FunctionType
from typing import Any

from ..scopes import CO_OPTIMIZED, read_locals
from .protocol import read_attribute, read_instance
from .rows import Row, Rows

MAX_FRAMES = 12


def find_runner(rows: Rows, target: Row, frame: FrameType | None, outermost: FrameType) -> Row | None:
    """The value that passes gradient to `target`, or None if the running functions do not show it.

    Only a value with `target` among its operands qualifies. `outermost` is the frame that called backward.
    """
    for _ in range(MAX_FRAMES):
        if frame is None or frame is outermost:
            return None
        if frame.f_code.co_flags & CO_OPTIMIZED:
            found = _find_in(rows, target, frame)
            if found is not None:
                return found
        frame = frame.f_back
    return None


def _find_in(rows: Rows, target: Row, frame: FrameType) -> Row | None:
    variables = read_locals(frame)
    users: dict[int, Row] = {}
    for thing in variables.values():
        row = rows.find(thing)
        if row is not None and row is not target and id(target.value) in _list_below(row):
            users[id(thing)] = row
    for row in users.values():
        if _owns(row.value, frame, variables):
            return row
    if len(users) > 1:
        # In backward itself `self` is the value where it began; the loop's variable is the value being processed.
        first = frame.f_code.co_varnames[0] if frame.f_code.co_argcount else ""
        users.pop(id(variables.get(first)), None)
    return next(iter(users.values())) if len(users) == 1 else None


def _list_below(row: Row) -> frozenset[int]:
    if row.below is None:
        row.below = frozenset(map(id, read_attribute(row.value, "_prev")))
    return row.below


def _owns(value: Any, frame: FrameType, variables: dict[str, Any]) -> bool:
    """Whether the running function is one that the value keeps for this, as in `out._backward = _backward`.

    All values of one kind keep functions of one code: what the function closes over says whose is running.
    """
    for held in list(read_instance(value).values()):
        if type(held) is FunctionType and held.__code__ is frame.f_code and _closes_over(held, value, variables):
            return True
    return False


def _closes_over(function: FunctionType, value: Any, variables: dict[str, Any]) -> bool:
    holds_value = False
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            content = cell.cell_contents
        except ValueError:
            continue  # a variable that has no value yet
        if content is not variables.get(name):
            return False
        holds_value = holds_value or content is value
    return holds_value

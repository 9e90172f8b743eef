"""The variables of a running function, read without running any of the program's code or changing anything."""

import sys
from types import FrameType
from typing import Any

CO_OPTIMIZED = 1
UNSHARED_REFERENCES = 3  # the frame, `snapshot`, and the argument of getrefcount


def read_local(frame: FrameType, name: str) -> Any:
    """One variable of a running frame, or None."""
    if not frame.f_code.co_flags & CO_OPTIMIZED:
        return frame.f_locals.get(name)
    return read_locals(frame).get(name)


def read_locals(frame: FrameType) -> dict[str, Any]:
    """A copy of a function's variables that leaves no reference behind in the frame."""
    snapshot = frame.f_locals
    variables = dict(snapshot)
    is_function = bool(frame.f_code.co_flags & CO_OPTIMIZED)
    if is_function and sys.version_info < (3, 13) and sys.getrefcount(snapshot) <= UNSHARED_REFERENCES:
        # Before 3.13 the dict lives as long as the frame and would keep deleted tensors alive;
        # if the program itself called locals(), the dict belongs to the program and is not changed.
        snapshot.clear()
    return variables

"""Records the autograd graphs of a learner's own program and the tape of their unwinding, and changes neither.

`record` watches torch. `learner.record` watches an engine that the learner wrote, and needs no torch.
"""

from typing import TYPE_CHECKING, Any

from .caps import Caps

if TYPE_CHECKING:
    from .recording import Recording, record

__all__ = ["Caps", "Recording", "record"]


def __getattr__(name: str) -> Any:
    if name not in ("Recording", "record"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Only here: where there is no torch, the learner's own engine is traced all the same.
    from . import recording  # noqa: PLC0415

    return getattr(recording, name)

"""The list of events in order: small records that hold numbers and text, never tensors."""

from typing import Any

from .graph import Row
from .saved import Saved

_UNSET: dict[str, Any] = {
    "norm": None,
    **dict.fromkeys(("before", "incoming", "outgoing", "text", "numbers"), ""),
    **dict.fromkeys(("received", "sent", "held", "refilled"), ()),
}


class Event:
    """One step. `sequence` is autograd's counter at that time: it shows which nodes had been made before.

    `incoming`, `outgoing` and `before` are written when the program is over, from `received`, `sent` and `held`.
    """

    __slots__ = (
        "before",
        "call",
        "held",
        "incoming",
        "kind",
        "norm",
        "numbers",
        "outgoing",
        "received",
        "refilled",
        "row",
        "sent",
        "sequence",
        "text",
    )

    norm: float | None
    before: str
    incoming: str
    outgoing: str
    text: str
    numbers: str
    received: tuple[Any, ...]
    sent: tuple[Any, ...]
    held: tuple[Any, ...]
    refilled: tuple[Saved, ...]

    def __init__(self, kind: str, row: Row | None, call: int, sequence: int) -> None:
        self.kind = kind
        self.row = row
        self.call = call
        self.sequence = sequence

    def __getattr__(self, name: str) -> Any:
        """What was never set: a step of backward sets only what it has, because the program waits meanwhile."""
        return _UNSET[name]


class Tape:
    """Events up to a cap; past it the tape is marked as cut short."""

    def __init__(self, max_events: int) -> None:
        self.events: list[Event] = []
        self.is_full = False
        self._max_events = max_events

    def count_left(self, nodes_made: int) -> int:
        """The number of steps that still fit, given that the creation of each node takes one."""
        return self._max_events - nodes_made - len(self.events)

    def add(self, event: Event) -> None:
        if len(self.events) < self._max_events:
            self.events.append(event)
        else:
            self.is_full = True

"""Replays a tape to count the bytes held for backward after each step; each storage counts once."""

from .graph import Row
from .saved import Saved


class HeldBytes:
    """The storages that at least one node holds. A storage saved by several nodes counts once, for the first."""

    def __init__(self) -> None:
        self.total = 0
        self._holders: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        self._slots: dict[Row, tuple[Saved, ...]] = {}

    def hold(self, row: Row, slots: tuple[Saved, ...]) -> tuple[Saved, ...]:
        """Records what a node saves. Returns the slots whose storages no node held before."""
        first: list[Saved] = []
        for slot in slots:
            if slot.key is None:
                continue
            holders = self._holders.get(slot.key, 0)
            self._holders[slot.key] = holders + 1
            if holders == 0:
                self._sizes[slot.key] = slot.nbytes
                self.total += slot.nbytes
                first.append(slot)
        self._slots[row] = self._slots.get(row, ()) + slots
        return tuple(first)

    def free(self, row: Row) -> None:
        """Records that a node releases all it saved."""
        for slot in self._slots.pop(row, ()):
            if slot.key is None:
                continue
            self._holders[slot.key] -= 1
            if self._holders[slot.key] == 0:
                del self._holders[slot.key]
                self.total -= self._sizes.pop(slot.key)

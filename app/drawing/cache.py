"""What was drawn lately, by content: the same trace with the same task has the same picture.

In memory and not on disk: a picture shows what a learner's program did, and must be gone when its learner is. It is
forgotten after some minutes, is found only with the same trace, and never outlives the process, so the
key need not name the version of the code that drew it.
"""

import hashlib
from collections import OrderedDict
from dataclasses import dataclass

from app.drawing.tasks import NotDrawn, Task

MAX_BYTES = 32 * 2**20
"""Some two thousand ordinary pictures."""
MAX_AGE_SECONDS = 600.0

Key = bytes


def make_key(task: Task, trace: bytes) -> Key:
    digest = hashlib.sha256(task.model_dump_json().encode())
    # The task's own digest has one length, so that no part of it can pass for the trace's.
    return hashlib.sha256(digest.digest() + trace).digest()


@dataclass(frozen=True)
class _Kept:
    answer: bytes | NotDrawn
    kept_at: float

    @property
    def size_bytes(self) -> int:
        return len(self.answer) if isinstance(self.answer, bytes) else len(str(self.answer))


class PictureCache:
    """The newest answers, refusals included, up to a number of bytes. Times are seconds of any one clock."""

    def __init__(self, most_bytes: int = MAX_BYTES) -> None:
        self.size_bytes = 0
        self._most_bytes = most_bytes
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()

    def find(self, key: Key, now: float) -> bytes | NotDrawn | None:
        self._forget_old(now)
        found = self._kept.get(key)
        return None if found is None else found.answer

    def keep(self, key: Key, answer: bytes | NotDrawn, now: float) -> None:
        """An answer of more than a quarter of the cache is not worth the others that it would displace."""
        self._forget_old(now)
        kept = _Kept(answer, now)
        if key in self._kept or kept.size_bytes > self._most_bytes // 4:
            return
        self._kept[key] = kept
        self.size_bytes += kept.size_bytes
        while self.size_bytes > self._most_bytes:
            self._drop_oldest()

    def _forget_old(self, now: float) -> None:
        while self._kept and now - next(iter(self._kept.values())).kept_at > MAX_AGE_SECONDS:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        _, dropped = self._kept.popitem(last=False)
        self.size_bytes -= dropped.size_bytes

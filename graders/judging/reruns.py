"""Runs a job again if the first try says nothing about the learner's program, and shows no output twice."""

import logging
import threading
from collections import Counter
from collections.abc import Callable

from graders.box.interface import BoxFault
from graders.contract.events import EventKind, OnEvent, Output
from graders.contract.model import Message
from graders.contract.results import RunEnd, Verdict
from graders.judging.exits import MachineBusy

LOG = logging.getLogger(__name__)

RERUNS_AFTER_BOX_FAULTS = 2
RERUNS_ON_A_BUSY_MACHINE = 1
"""One, because a third try would make a machine that was too busy twice even busier."""

Run = Callable[[OnEvent], Verdict | RunEnd]


class ShownOnce:
    """Passes on a job's events, each part of its text and each case once, even if the job is run several times.

    If a program prints something different in a second run, the shown text is a mixture of both. Its result has the
    whole text of the run that counts.
    """

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self._shown: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()

    def begin_again(self) -> None:
        self._seen.clear()

    def take(self, kind: EventKind, body: Message) -> None:
        if isinstance(body, Output):
            text = body.text[self._count(body.stream, len(body.text)) :]
            if text:
                self._on_event(kind, Output(stream=body.stream, text=text))
        elif not self._count(kind.value, 1):
            self._on_event(kind, body)

    def _count(self, what: str, many: int) -> int:
        """How many of the next `many` of this kind were already shown in an earlier run."""
        self._seen[what] += many
        known = max(0, min(many, self._shown[what] - (self._seen[what] - many)))
        self._shown[what] = max(self._shown[what], self._seen[what])
        return known


def run_until_it_counts(run: Run, on_event: OnEvent, cancelled: threading.Event) -> Verdict | RunEnd:
    """Run again, a few times, if our own process died or the machine was too busy; then raise the last error."""
    once = ShownOnce(on_event)
    faults, busy_times = 0, 0
    while True:
        try:
            return run(once.take)
        except BoxFault as fault:
            faults += 1
            if faults > RERUNS_AFTER_BOX_FAULTS or cancelled.is_set():
                raise
            LOG.warning("the box failed and the job is run again: %s", fault)
        except MachineBusy as busy:
            busy_times += 1
            if busy_times > RERUNS_ON_A_BUSY_MACHINE or cancelled.is_set():
                raise
            LOG.warning("the machine was too busy and the job is run again: %s", busy)
        once.begin_again()

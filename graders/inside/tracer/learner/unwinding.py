"""Turns a backward call of a learner's engine into a tape: the rules that ran, what each sent, what was added.

Only changes of `.grad` are observed. Most engines add to an operand once per use, while the user's rule runs; then
each change is one part, on one edge. Some add a finished sum when they process the operand; then the parts of a
value that is used twice are unknown, and the tape shows "?" for them instead of a number that was never computed.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from ..numerals import norm_of, write_values
from .protocol import MAX_NUMBERS, add, count_numbers, is_zero, read_shape, subtract
from .rows import Entry, Row, Rows

UNSEEN = "?"
NOTHING = "·"


@dataclass(slots=True)
class Step:
    """One row of the tape, in the words of the trace contract."""

    kind: str
    row: Row | None
    call: int = -1
    norm: float | None = None
    before: str = ""
    incoming: str = ""
    outgoing: str = ""
    text: str = ""


def write_gradient(numbers: Any) -> str:
    """`() 1.0`, `(2,) [1.0, 2.0]`, or the shape and the norm of many."""
    if numbers is None:
        return ""
    shape = read_shape(numbers)
    if count_numbers(numbers) > MAX_NUMBERS:
        return f"{shape} ‖{norm_of(numbers):.3g}‖"
    return f"{shape} {write_values(numbers)}"


class Unwinding:
    """One backward call, from the row where it began."""

    def __init__(self, rows: Rows, root: Row, changes: list[Entry], call: int) -> None:
        self._rows = rows
        self._root = root
        self._call = call
        self._users = find_users(rows, root)
        self._changes = drop_resets(root, changes)
        self._times = Counter(id(change.row) for change in self._changes)
        self._sums_first = self._adds_sums()
        self._keeps_inner = any(change.row is not root and rows.list_operands(change.row) for change in self._changes)
        self._received: dict[int, Any] = {}
        self._ran: set[int] = set()
        self._running: Row | None = None
        self._parts: dict[int, Any] = {}
        self._turns: Counter[int] = Counter()
        self._waiting: list[Step] = []
        self.steps: list[Step] = []

    def tell(self) -> list[Step]:
        """The steps between the call's begin and its end."""
        for change in self._changes:
            self._take(change)
        self._flush()
        return self.steps

    def _adds_sums(self) -> bool:
        """Whether each value's gradient came as one finished sum, though some are used more than once."""
        shared = [row for row, users in self._users.values() if len(users) > 1]
        once = all(times == 1 for times in self._times.values())
        return once and any(self._times[id(row)] == 1 for row in shared)

    def _take(self, change: Entry) -> None:
        row, delta = change.row, subtract(change.after, change.before)
        row.reached_by = self._call if row.reached_by < 0 else row.reached_by
        user = self._find_user(change)
        if user is None:
            self._flush()
            self._run_users(row)
        elif user is not self._running:
            self._flush()
            self._running = user
            if change.held is not None and not self._sums_first:
                self._received[id(user)] = change.held
        if user is not None:
            self._add_part(user, row, delta)
        self._receive(row, delta, change)

    def _receive(self, row: Row, delta: Any, change: Entry) -> None:
        before = self._received.get(id(row))
        added = delta if before is None else add(before, delta)
        self._received[id(row)] = added if self._sums_first else change.after
        if self._rows.list_operands(row):
            return
        told = (write_gradient(each) for each in (change.before, delta, change.after))
        before_text, added_text, after_text = told
        step = Step("accumulate", row, self._call, measure(delta), before_text or "None", added_text, after_text)
        if self._running is None:
            self.steps.append(step)
        else:
            self._waiting.append(step)

    def _find_user(self, change: Entry) -> Row | None:
        """The value whose rule made this change."""
        users = self._users_of(change.row)
        distinct = {id(user) for user in users}
        if len(distinct) == 1 and not (self._sums_first and len(users) > 1):
            return users[0]
        if self._sums_first or change.runner is None or id(change.runner) not in distinct:
            return None
        return change.runner

    def _users_of(self, row: Row) -> list[Row]:
        return self._users[id(row)][1] if id(row) in self._users else []

    def _add_part(self, user: Row, row: Row, delta: Any) -> None:
        slots = [at for at, operand in enumerate(self._rows.list_operands(user)) if operand is row]
        turn = self._turns[id(row)]
        self._turns[id(row)] += 1
        slot = slots[min(turn, len(slots) - 1)]
        self._parts[slot] = add(self._parts[slot], delta) if slot in self._parts else delta

    def _run_users(self, row: Row) -> None:
        """Notes that all users' rules have run, which a finished sum implies."""
        for user in sorted(self._users_of(row), key=lambda each: -each.number):
            if id(user) not in self._ran:
                self._running = user
                self._flush()

    def _flush(self) -> None:
        """Adds the step of the running rule, which has ended."""
        row, self._running = self._running, None
        if row is not None:
            self._ran.add(id(row))
            row.reached_by = self._call if row.reached_by < 0 else row.reached_by
            received = self._received.get(id(row))
            parts = [self._write_part(at, operand) for at, operand in enumerate(self._rows.list_operands(row))]
            self.steps.append(
                Step(
                    "vjp",
                    row,
                    self._call,
                    measure(received),
                    incoming=write_gradient(received),
                    outgoing="; ".join(parts),
                )
            )
        self.steps += self._waiting
        self._waiting = []
        self._parts = {}
        self._turns.clear()

    def _write_part(self, slot: int, operand: Row) -> str:
        if slot in self._parts:
            return write_gradient(self._parts[slot]) or UNSEEN
        is_sum = self._sums_first and len(self._users_of(operand)) > 1 and self._times[id(operand)] > 0
        is_kept = self._keeps_inner or not self._rows.list_operands(operand)
        return UNSEEN if is_sum or not is_kept else NOTHING


def measure(numbers: Any) -> float | None:
    return None if numbers is None else norm_of(numbers)


def find_users(rows: Rows, root: Row) -> dict[int, tuple[Row, list[Row]]]:
    """For each row below the root, the rows that use it, once per use."""
    found: dict[int, tuple[Row, list[Row]]] = {id(root): (root, [])}
    waiting = [root]
    while waiting:
        user = waiting.pop()
        for operand in rows.list_operands(user):
            if id(operand) not in found:
                found[id(operand)] = (operand, [])
                waiting.append(operand)
            found[id(operand)][1].append(user)
    return found


def drop_resets(root: Row, changes: list[Entry]) -> list[Entry]:
    """Drops the changes before the root's own gradient was set: some engines begin by clearing every `.grad`."""
    for at, change in enumerate(changes):
        if change.row is root and not is_zero(change.after):
            return changes[at:]
    return changes

"""Serves one case on a metered machine: a learner's program asks step by step, and the judge does, counts and rules.

Requests are of fixed length, and read as numbers alone. graders/inside/metered.py writes them, on its own.
"""

import struct
from collections.abc import Callable
from typing import Final

from graders.contract.chart import FORWARDS, HELD
from graders.contract.results import Measure, MeasuredBy, Outcome
from graders.trusted.findings import find_budget
from graders.trusted.judge import BREACH, Metered, Receive, Ruling, read_failure
from graders.trusted.machine import Machine, Refused
from graders.trusted.wire import FAILURE, HEAD

DONE, NOTHING = b"DONE", b"NONE"
GAVE, REFUSED = b"GAVE", b"NOPE"
NUMBER: Final = struct.Struct("<I")
REPLY: Final = struct.Struct("<4sI")
MOST_CALLS: Final = 100_000

Send = Callable[[bytes], None]


def judge_schedule(number: int, machine: Machine, send: Send, receive: Receive) -> Ruling:
    """Serve the program until it names its gradient, fails, or breaks the protocol; then rule on what it did."""
    for _ in range(MOST_CALLS):
        kind, asked, one, other = HEAD.unpack(receive(HEAD.size))
        if asked != number:
            return BREACH
        if kind == FAILURE:
            return read_failure(one, other, receive)
        if kind in (DONE, NOTHING):
            return rule(machine, other if kind == DONE else None)
        reply = serve(machine, kind, one, other, receive)
        if reply is None:
            return BREACH
        send(reply)
    finding = find_budget("too-many-calls", used=MOST_CALLS, limit=MOST_CALLS)
    return Ruling(Outcome.OVER_BUDGET, goes_on=False, finding=finding, metered=meter(machine))


def serve(machine: Machine, kind: bytes, one: int, other: int, receive: Receive) -> bytes | None:
    """The reply to a request; None for what is no request. `free` makes nothing, and is told 0."""
    try:
        match kind:
            case b"FWRD":
                made = machine.forward(one, other)
            case b"LOSS":
                made = machine.loss(other)
            case b"PULL":
                (gradient,) = NUMBER.unpack(receive(NUMBER.size))
                made = machine.vjp(one, other, gradient)
            case b"FREE":
                made = machine.free(other)
            case _:
                return None
    except Refused as refused:
        return REPLY.pack(REFUSED, refused.refusal)
    return REPLY.pack(GAVE, made)


def rule(machine: Machine, answer: int | None) -> Ruling:
    """First whether there is a gradient and it is right, then what it cost."""
    metered = meter(machine)
    if answer is None:
        return Ruling(Outcome.WRONG_DTYPE, goes_on=True, dtype="NoneType", metered=metered)
    if not machine.is_gradient(answer):
        return Ruling(Outcome.WRONG_ANSWER, goes_on=True, metered=metered)
    order = machine.order
    costs = (
        ("too-many-forwards", machine.forwards, order.most_forwards),
        ("too-much-held", machine.peak_held, order.most_held),
    )
    for code, used, limit in costs:
        if limit is not None and used > limit:
            finding = find_budget(code, used=used, limit=limit)
            return Ruling(Outcome.OVER_BUDGET, goes_on=True, finding=finding, metered=metered)
    return Ruling(Outcome.PASSED, goes_on=True, metered=metered)


def meter(machine: Machine) -> Metered:
    order = machine.order
    counts = (
        (FORWARDS, machine.forwards, "steps", order.most_forwards),
        (HELD, machine.peak_held, "units", order.most_held),
    )
    measures = (Measure(name=n, value=v, unit=u, measured_by=MeasuredBy.JUDGE, most=m) for n, v, u, m in counts)
    budgets = ((order.most_forwards, "forward steps: at most {}"), (order.most_held, "units held: at most {}"))
    budget = "; ".join(words.format(most) for most, words in budgets if most is not None)
    used = f"forward steps: {machine.forwards}; units held: at most {machine.peak_held}"
    return Metered(tuple(measures), used, budget or "the gradient, at any cost", machine.describe())

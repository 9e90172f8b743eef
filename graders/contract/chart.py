"""The chart of memory against recomputing that an exercise may show: case, budgets, and the plans drawn in it."""

from typing import Annotated, Final

from pydantic import Field

from graders.contract.model import Message

FORWARDS: Final = "forward steps"
"""The measure across: how many forward steps the program took, the recomputed ones included."""
HELD: Final = "most held at once"
"""The measure upwards, in units of the exercise: on a metered machine, or bytes that the kernel counted."""


class Plan(Message):
    """A way to do it, with what it costs. The course's check runs `file` and measures both numbers again."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    file: Annotated[str, Field(pattern=r"^(solution|attempts/[A-Za-z0-9_]+)\.py$")]
    forwards: Annotated[int, Field(ge=0)]
    held: Annotated[float, Field(gt=0)]
    best: bool = False
    """The best that is known; any number of plans may be, where neither beats the other in both."""


class Chart(Message):
    """Where plans and a learner's submissions stand: the measures FORWARDS and HELD of the public case `case`."""

    case: Annotated[str, Field(min_length=1, max_length=80)]
    most_forwards: Annotated[int, Field(ge=1)] | None = None
    most_held: Annotated[float, Field(gt=0)] | None = None
    plans: Annotated[tuple[Plan, ...], Field(min_length=1, max_length=12)]

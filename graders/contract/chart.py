"""The chart of memory against recomputing that an exercise may show: case, budgets, and the plans drawn in it."""

from typing import Annotated, Final

from pydantic import Field

from graders.contract.model import Message

FORWARDS: Final = "forward steps"
"""The horizontal measure: how many forward steps the program took, including recomputed ones."""
HELD: Final = "most held at once"
"""The vertical measure, in the exercise's units: counted on a metered machine, or from the kernel's bytes."""


class Plan(Message):
    """One solution and its cost. The course's check runs `file` and measures both numbers again."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    file: Annotated[str, Field(pattern=r"^(solution|attempts/[A-Za-z0-9_]+)\.py$")]
    forwards: Annotated[int, Field(ge=0)]
    held: Annotated[float, Field(gt=0)]
    best: bool = False
    """Among the best known: several plans may be, if none is better than another in both measures."""


class Chart(Message):
    """Plans and a learner's submissions, placed by the measures FORWARDS and HELD of the public case `case`."""

    case: Annotated[str, Field(min_length=1, max_length=80)]
    most_forwards: Annotated[int, Field(ge=1)] | None = None
    most_held: Annotated[float, Field(gt=0)] | None = None
    plans: Annotated[tuple[Plan, ...], Field(min_length=1, max_length=12)]

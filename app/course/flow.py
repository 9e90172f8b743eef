"""The debugging guide as data: questions whose answers lead to further questions or to a cause. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.course.blocks import Html


@dataclass(frozen=True)
class FlowAnswer:
    """One answer to a question, with the id of the step that it leads to."""

    html: Html
    go: str


@dataclass(frozen=True)
class FlowStep:
    """A question if it has answers, otherwise a cause. `command` is the code to type, or empty."""

    id: str
    title: Html
    text: Html
    command: str = ""
    command_html: Html = ""
    """The highlighted command."""
    answers: tuple[FlowAnswer, ...] = ()


@dataclass(frozen=True)
class Flow:
    """The guide starts at the first of `steps`."""

    title: str
    summary: Html
    steps: tuple[FlowStep, ...]

    @property
    def by_id(self) -> Mapping[str, FlowStep]:
        return {step.id: step for step in self.steps}


@dataclass(frozen=True)
class Given:
    """An answer given on the way: its step, and the number of the answer, from 1."""

    step: FlowStep
    number: int


def walk_way(flow: Flow, start: str, numbers: Sequence[int]) -> tuple[tuple[Given, ...], FlowStep]:
    """Follows answers from the step `start`, or from the first step if that id does not exist.

    Stops early at a number that is not the number of an answer.
    """
    steps = flow.by_id
    now = steps.get(start, flow.steps[0])
    given: list[Given] = []
    for number in numbers:
        if not 1 <= number <= len(now.answers):
            break
        given.append(Given(now, number))
        now = steps[now.answers[number - 1].go]
    return tuple(given), now


def find_unreachable(steps: Sequence[FlowStep]) -> tuple[str, ...]:
    """The ids of the steps that cannot be reached from the first one."""
    known = {step.id: step for step in steps}
    seen: set[str] = set()
    waiting = [steps[0].id] if steps else []
    while waiting:
        name = waiting.pop()
        if name in known and name not in seen:
            seen.add(name)
            waiting += [answer.go for answer in known[name].answers]
    return tuple(step.id for step in steps if step.id not in seen)


def find_endless(steps: Sequence[FlowStep]) -> tuple[str, ...]:
    """The ids of the questions from which no cause can be reached: a reader there would go round in circles."""
    ending = {step.id for step in steps if not step.answers}
    grown = True
    while grown:
        more = {step.id for step in steps if any(answer.go in ending for answer in step.answers)} - ending
        grown = bool(more)
        ending |= more
    return tuple(step.id for step in steps if step.id not in ending)

"""The debugging guide as data: questions whose answers lead on, to a cause with where to look. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.course.blocks import Html


@dataclass(frozen=True)
class FlowAnswer:
    """What a reader may say to a question, and the id of the step that it leads to."""

    html: Html
    go: str


@dataclass(frozen=True)
class FlowStep:
    """A question with its answers, or, where it has none, a cause. `command` is the code to type, or empty."""

    id: str
    title: Html
    text: Html
    command: str = ""
    command_html: Html = ""
    """The command in colours."""
    answers: tuple[FlowAnswer, ...] = ()


@dataclass(frozen=True)
class Flow:
    """The first of `steps` is where everybody begins."""

    title: str
    summary: Html
    steps: tuple[FlowStep, ...]

    @property
    def by_id(self) -> Mapping[str, FlowStep]:
        return {step.id: step for step in self.steps}


@dataclass(frozen=True)
class Given:
    """An answer that was given on the way: to which step, and which of its answers, from 1."""

    step: FlowStep
    number: int


def walk_way(flow: Flow, start: str, numbers: Sequence[int]) -> tuple[tuple[Given, ...], FlowStep]:
    """Where a way of answers leads, from the step `start` on, or from the first where there is none of that id.

    It ends early at a number that no answer has.
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
    """The steps to which no way from the first one leads."""
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
    """The questions from which no way ends at a cause: a reader who gets there goes round in circles."""
    ending = {step.id for step in steps if not step.answers}
    grown = True
    while grown:
        more = {step.id for step in steps if any(answer.go in ending for answer in step.answers)} - ending
        grown = bool(more)
        ending |= more
    return tuple(step.id for step in steps if step.id not in ending)

"""debugging.toml: the course's guide from a symptom to its cause. Pure: takes the text."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.course.chapter import ChapterParser
from app.course.flow import Flow, FlowAnswer, FlowStep, find_endless, find_unreachable
from app.course.language.code import highlight
from app.course.language.prose import Link
from app.course.language.python_code import find_syntax_mistake
from app.course.language.toml_file import read_toml
from app.course.problems import ContentProblem, Report, Rule, suggest

PATH = "debugging.toml"

Id = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Text = Annotated[str, Field(min_length=1)]


class _Fields(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class AnswerFields(_Fields):
    say: Text
    go: Id


class StepFields(_Fields):
    """A question has `ask` and `answers`; a cause has `cause` and `look`, and may have a `command`."""

    id: Id
    ask: str = ""
    cause: str = ""
    look: str = ""
    command: str = ""
    answers: tuple[AnswerFields, ...] = ()


class DebuggingFile(_Fields):
    format: Literal[1]
    title: Text
    summary: Text
    steps: Annotated[tuple[StepFields, ...], Field(min_length=1)]


@dataclass
class _Rendering:
    """Renders the file's texts, and collects their problems and links."""

    text: str
    parser: ChapterParser
    report: Report
    links: list[Link]

    def line_of(self, step: str, value: str = "") -> int:
        """The line on which a step's value begins; without a value, the line of the step's id."""
        lines = self.text.split("\n")
        start = next((n for n, line in enumerate(lines) if line.strip() == f'id = "{step}"'), 0)
        first = value.strip().split("\n")[0]
        return next((n + 1 for n in range(start, len(lines)) if first and first in lines[n]), start + 1)

    def block(self, value: str, line: int) -> str:
        # Blank lines in front keep the line numbers equal to those of the file.
        body = self.parser.markdown("\n" * (line - 1) + value.strip("\n"), PATH)
        self.report.problems += body.problems
        self.links += body.links
        return "".join(body.parts)

    def inline(self, value: str, line: int) -> str:
        return self.block(value, line).strip().removeprefix("<p>").removesuffix("</p>")


def read_debugging(text: str, parser: ChapterParser) -> tuple[Flow | None, list[ContentProblem], tuple[Link, ...]]:
    """The guide, its problems and the links in its texts. The guide is None if it has a problem."""
    report = Report(PATH)
    file = read_toml(text, DebuggingFile, Rule.DEBUGGING_FILE, report) if text.strip() else None
    if file is None:
        return None, report.problems, ()
    rendering = _Rendering(text, parser, report, [])
    steps = tuple(_read_step(fields, rendering) for fields in file.steps)
    _check_targets(file.steps, rendering)
    _check_ways(steps, rendering)
    flow = Flow(file.title, rendering.inline(file.summary, 1), steps)
    return None if report.problems else flow, report.problems, tuple(rendering.links)


def _read_step(fields: StepFields, rendering: _Rendering) -> FlowStep:
    is_question = bool(fields.ask)
    _check_step(fields, rendering)
    title = fields.ask or fields.cause
    command_line = rendering.line_of(fields.id, fields.command)
    mistake = find_syntax_mistake(fields.command)
    if mistake:
        message = f"the command of {fields.id!r} does not parse: {mistake.message}"
        rendering.report.add(command_line, Rule.PYTHON, fields.id, message, "fix it: it is shown as Python")
    return FlowStep(
        id=fields.id,
        title=rendering.inline(title, rendering.line_of(fields.id, title)),
        text=rendering.block(fields.look, rendering.line_of(fields.id, fields.look)),
        command=fields.command.strip("\n"),
        command_html=highlight(fields.command.strip("\n")) if fields.command and not mistake else "",
        answers=tuple(
            FlowAnswer(rendering.inline(answer.say, rendering.line_of(fields.id, answer.say)), answer.go)
            for answer in (fields.answers if is_question else ())
        ),
    )


def _check_step(fields: StepFields, rendering: _Rendering) -> None:
    line, name = rendering.line_of(fields.id), fields.id
    add = rendering.report.add
    if bool(fields.ask) == bool(fields.cause):
        add(line, Rule.DEBUGGING_FILE, name, f"the step {name!r} needs either `ask` or `cause`", "keep one")
    if fields.ask and len(fields.answers) < 2:
        message = f"the question {name!r} has {len(fields.answers)} answers"
        add(line, Rule.DEBUGGING_FILE, name, message, "give it two or more, each with `say` and `go`")
    if fields.cause and fields.answers:
        message = f"the cause {name!r} has answers"
        add(line, Rule.DEBUGGING_FILE, name, message, "write `ask` instead of `cause`, or remove the answers")
    if fields.cause and not fields.look:
        message = f"the cause {name!r} does not say where to look"
        add(line, Rule.DEBUGGING_FILE, name, message, "write `look = ...`")


def _check_targets(steps: Iterable[StepFields], rendering: _Rendering) -> None:
    names = [fields.id for fields in steps]
    for fields in steps:
        if names.count(fields.id) > 1:
            message = f"two steps have the id {fields.id!r}"
            line = rendering.line_of(fields.id)
            rendering.report.add(line, Rule.DUPLICATE_ID, fields.id, message, "keep one, or rename it")
        for answer in fields.answers:
            if answer.go not in names:
                message = f"an answer of {fields.id!r} leads to {answer.go!r}, which is not a step"
                remedy = suggest(answer.go, names, f"add a step with the id {answer.go!r}")
                line = rendering.line_of(fields.id, answer.say)
                rendering.report.add(line, Rule.UNKNOWN_ID, answer.go, message, remedy)


def _check_ways(steps: tuple[FlowStep, ...], rendering: _Rendering) -> None:
    for name in find_unreachable(steps):
        message = f"no answer leads to the step {name!r}"
        line = rendering.line_of(name)
        rendering.report.add(line, Rule.DEBUGGING_FILE, name, message, "let an answer lead to it, or remove it")
    for name in find_endless(steps):
        message = f"no path from the question {name!r} reaches a cause"
        rendering.report.add(rendering.line_of(name), Rule.DEBUGGING_FILE, name, message, "let an answer lead to one")


def check_guide_links(flow: Flow | None, links: Mapping[str, Iterable[Link]]) -> list[ContentProblem]:
    """A problem for each `debugging:` link whose step does not exist. `links` are by path."""
    names = [step.id for step in flow.steps] if flow else []
    problems: list[ContentProblem] = []
    for path, found in links.items():
        report = Report(path)
        for link in found:
            if link.guide is None or (flow and (not link.guide or link.guide in names)):
                continue
            message = (
                f"the debugging guide has no step {link.guide!r}" if flow else "the course has no debugging.toml"
            )
            remedy = suggest(link.guide, names, "write `debugging:` alone, or add the step to debugging.toml")
            report.add(link.line, Rule.DEAD_LINK, link.href, message, remedy)
        problems += report.problems
    return problems

"""Compares the result of a check with its expectation. Pure: returns problems."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from pydantic import ValidationError

from app.course.checking.charts import judge_plans
from app.course.checking.checks import (
    CHECKS,
    CellCheck,
    Check,
    ClaimCheck,
    ExamineCheck,
    ExerciseCheck,
    GraphCheck,
    RunExpectation,
    SnippetCheck,
    SwitchCheck,
    keeps_outcome,
    wanted_outcome,
)
from app.course.checking.hidden_setup import ASSERTED_LINE, read_lines
from app.course.drills.proving import DrillCheck, judge_drill
from app.course.gallery import judge_snippet
from app.course.language.python_code import find_certain_asserts
from app.course.language.toml_file import find_line
from app.course.problems import ContentProblem, Report, Rule, suggest
from app.course.questions.variant_check import MeasureCheck, VariantCheck, judge_measure, judge_variant
from graders.contract.examination import Examination
from graders.contract.outcome_sentences import UNJUDGED
from graders.contract.results import Mistake, Outcome, RunEnd, Verdict
from graders.contract.trace import Trace

SHOWN = 200
"""The maximum number of characters of a program's output in a message."""

LEAST_ROOM = 3
"""A limit must be at least this many times what the reference needs."""


@dataclass(frozen=True)
class Judged:
    """`problems` is empty if the expectation was met. `fault` is the graders' own failure, not the author's."""

    problems: tuple[ContentProblem, ...]
    fault: str = ""

    @property
    def is_doubtful(self) -> bool:
        """Whether a busy machine may have caused this, so that another run can decide."""
        return bool(self.fault) or any(problem.rule is Rule.TIGHT_LIMIT for problem in self.problems)


def judge(check: Check, result: RunEnd | Verdict | Examination) -> Judged:
    """Reports every difference between the result and the check's expectation."""
    if isinstance(result, Examination):
        assert isinstance(check.expectation, ExamineCheck)
        return Judged(tuple(_judge_examination(check.expectation, result)))
    if result.outcome in UNJUDGED:
        said = result.finding.short if result.finding else result.outcome.value
        return Judged((), f"{check.name}: {said}")
    report = Report(check.path)
    expectation = check.expectation
    if isinstance(expectation, ExerciseCheck):
        assert isinstance(result, Verdict)
        _judge_exercise(expectation, result, report)
    else:
        assert isinstance(result, RunEnd)
        assert not isinstance(expectation, ExamineCheck)
        _judge_run(expectation, result, report)
    return Judged(tuple(report.problems))


def _judge_run(  # noqa: C901 - one flat match over a closed union
    expectation: RunExpectation, end: RunEnd, report: Report
) -> None:
    match expectation:
        case SnippetCheck():
            judge_snippet(expectation.snippet, end, report)
        case CellCheck():
            _judge_cell(expectation, end, report)
        case ClaimCheck():
            _judge_claim(expectation, end, report)
        case GraphCheck():
            _judge_graph(expectation, end, report)
        case VariantCheck():
            _judge_variant(expectation, end, report)
        case MeasureCheck():
            _judge_measure(expectation, end, report)
        case DrillCheck():
            _judge_drill(expectation, end, report)
        case SwitchCheck():
            _judge_switch(expectation, end, report)
        case _:
            assert_never(expectation)


def say_end(result: RunEnd) -> str:
    """How a run ended, in words: the error's type and message, or the outcome."""
    if result.mistake:
        return f"{result.mistake.type}: {_first_line(result.mistake.message)}"
    return result.finding.short if result.finding else result.outcome.value


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0][:SHOWN]


def _line(code_line: int, mistake: Mistake | None) -> int:
    """The file's line of an error that a program reported in its own lines."""
    return code_line + mistake.line - 1 if mistake and mistake.line else code_line


def _judge_cell(expectation: CellCheck, result: RunEnd, report: Report) -> None:
    cell = expectation.cell
    line = _line(cell.code_line, result.mistake)
    if cell.raises:
        raised = result.mistake.type if result.mistake else ""
        if raised.rpartition(".")[2] != cell.raises.rpartition(".")[2]:
            message = f"the cell {cell.id!r} ends with {say_end(result)} but should raise {cell.raises}"
            report.add(cell.where.line, Rule.CELL_FAILED, say_end(result), message, "fix the code, or `:raises:`")
            return
    elif result.outcome is not Outcome.OK:
        message = f"the cell {cell.id!r} ends with {say_end(result)}"
        remedy = "fix the code, or write `:raises: TYPE` if the error is intended"
        report.add(line, Rule.CELL_FAILED, say_end(result), message, remedy)
        return
    _judge_output(expectation, result, report)
    if cell.graph:
        _judge_targets(result.trace, expectation.clicked, cell.id, cell.where.line, report)


def _judge_output(expectation: CellCheck, result: RunEnd, report: Report) -> None:
    cell = expectation.cell
    if cell.expected is None:
        return
    wanted, got = tidy_output(cell.expected).split("\n"), tidy_output(result.stdout).split("\n")
    if wanted == got:
        return
    differs = next((n for n in range(min(len(wanted), len(got))) if wanted[n] != got[n]), min(len(wanted), len(got)))
    given = repr(got[differs]) if differs < len(got) else "nothing more"
    expected = repr(wanted[differs]) if differs < len(wanted) else "nothing more"
    # The source, the `---` line, then the expected output.
    line = cell.code_line + cell.source.count("\n") + 2 + min(differs, len(wanted) - 1)
    message = f"the cell {cell.id!r} prints {given[:SHOWN]}, but the chapter says {expected[:SHOWN]}"
    remedy = "fix the code or the output; `python -m app check --update` writes what it prints"
    report.add(line, Rule.CELL_OUTPUT, given, message, remedy)


def tidy_output(text: str) -> str:
    """Output without trailing whitespace and surrounding blank lines, which a reader cannot see."""
    return "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").split("\n")).strip("\n")


def _judge_claim(expectation: ClaimCheck, result: RunEnd, report: Report) -> None:
    claim = expectation.claim
    if result.outcome is not Outcome.OK:
        message = f"the claim {claim.id!r} does not hold: {say_end(result)}"
        remedy = "correct the sentence, or the code that is meant to prove it"
        report.add(_line(claim.code_line, result.mistake), Rule.CLAIM_FAILED, claim.text, message, remedy)
        return
    for noted in read_lines(result.stdout, ASSERTED_LINE):
        if missed := [line for line in find_certain_asserts(claim.code) if line not in noted]:
            message = f"an `assert` of the claim {claim.id!r} never ran, so it proves nothing"
            remedy = "let its loop run at least once, or assert that there is something to go through"
            report.add(claim.code_line + missed[0] - 1, Rule.IDLE_CLAIM, claim.text, message, remedy)


def _judge_graph(expectation: GraphCheck, result: RunEnd, report: Report) -> None:
    graph = expectation.graph
    if result.outcome is not Outcome.OK or result.trace is None:
        said = say_end(result) if result.outcome is not Outcome.OK else result.trace_refused or "no graph"
        message = f"the graph {graph.id!r} cannot be drawn: {said}"
        line = _line(graph.code_line, result.mistake)
        report.add(line, Rule.GRAPH_FAILED, said, message, "fix the code; its last results are what is drawn")
        return
    if not result.trace.nodes.name:
        message = f"the graph {graph.id!r} is empty: its code records no operation"
        remedy = "let it compute something from a tensor with `requires_grad=True`"
        report.add(graph.where.line, Rule.GRAPH_FAILED, "", message, remedy)
        return
    remedy = "look at the picture, then run `python -m app check --update` to commit it"
    if expectation.committed is None:
        report.add(graph.where.line, Rule.GRAPH_CHANGED, "", f"the graph {graph.id!r} has no committed trace", remedy)
    elif not is_same_picture(expectation.committed, result.trace):
        message = f"the graph {graph.id!r} is no longer the committed one"
        report.add(graph.where.line, Rule.GRAPH_CHANGED, "", message, remedy)
    _judge_targets(result.trace, expectation.clicked, graph.id, graph.where.line, report)


def _judge_switch(expectation: SwitchCheck, result: RunEnd, report: Report) -> None:
    """Reports a switch that changes nothing. The changed output itself is not compared: the reader runs it."""
    cell = expectation.incident.cell
    raised = result.mistake.type.rpartition(".")[2] if result.mistake else ""
    same_end = raised == cell.raises.rpartition(".")[2]
    same_output = cell.expected is None or tidy_output(result.stdout) == tidy_output(cell.expected)
    if same_end and same_output:
        message = f"the switch {expectation.switch.name!r} changes nothing in {cell.id!r}"
        remedy = "make the output depend on it"
        report.add(expectation.incident.where.line, Rule.INCIDENT, expectation.switch.name, message, remedy)


def _judge_variant(expectation: VariantCheck, result: RunEnd, report: Report) -> None:
    variant = expectation.question.variant
    if result.outcome is Outcome.OK or variant is None:
        judge_variant(expectation, result, report)
        return
    message = f"the variant {variant.id!r} ends with {say_end(result)}"
    line = _line_within(variant.code_line, variant.code, result.mistake)
    report.add(line, Rule.VARIANT_FAILED, say_end(result), message, "fix `draw`; it is given a random.Random")


def _judge_drill(expectation: DrillCheck, result: RunEnd, report: Report) -> None:
    if result.outcome is Outcome.OK:
        judge_drill(expectation, result, report)
        return
    drill = expectation.drill
    message = f"the drill {drill.id!r} ends with {say_end(result)}"
    remedy = f"fix `draw` in {drill.id}.py; it is given a random.Random and a level"
    report.add(drill.question.where.line, Rule.VARIANT_FAILED, say_end(result), message, remedy)


def _judge_measure(expectation: MeasureCheck, result: RunEnd, report: Report) -> None:
    cell = expectation.measure.cell
    if result.outcome is Outcome.OK:
        judge_measure(expectation, result, report)
        return
    message = f"the measurement {cell.id!r} ends with {say_end(result)}"
    line = _line_within(cell.code_line, cell.source, result.mistake)
    report.add(
        line, Rule.MEASURE_FAILED, say_end(result), message, "fix the code; it must assign its table to `result`"
    )


def _line_within(code_line: int, source: str, mistake: Mistake | None) -> int:
    """The file's line of an error; an error in the line that we add after the code is reported at the first line."""
    return min(_line(code_line, mistake), code_line + source.count("\n"))


def is_same_picture(committed: str, now: Trace) -> bool:
    """Whether two traces draw the same picture. Sequence numbers and the torch version may differ."""
    try:
        before = Trace.model_validate_json(committed)
    except ValidationError:
        return False
    return have_same_picture(before, now)


def have_same_picture(one: Trace | None, other: Trace | None) -> bool:
    return one is not None and other is not None and _drawn(one) == _drawn(other)


def _drawn(trace: Trace) -> Trace:
    nodes = trace.nodes.model_copy(update={"sequence": ()})
    return trace.model_copy(update={"nodes": nodes, "torch": ""})


def _judge_targets(
    trace: Trace | None, clicked: tuple[tuple[str, int], ...], name: str, line: int, report: Report
) -> None:
    if trace is None:
        message = f"{name!r} shows a graph, but its run produced none"
        report.add(line, Rule.GRAPH_FAILED, name, message, "let the code compute something that requires a gradient")
        return
    names = sorted({*trace.nodes.variable, *trace.nodes.forward, *trace.nodes.name} - {""})
    for target, asked_at in clicked:
        if target not in names:
            message = f"no node of {name!r} is called {target!r}"
            remedy = suggest(target, names, f"it has {', '.join(names)}")
            report.add(asked_at, Rule.GRAPH_TARGET, target, message, remedy)


def _judge_examination(expectation: ExamineCheck, result: Examination) -> Iterator[ContentProblem]:
    for fault in result.faults:
        path = f"exercises/{expectation.exercise.name}/{fault.file}"
        line = fault.line or find_line(expectation.toml, "tolerance")
        yield ContentProblem(path, line, Rule.EXERCISE_CODE, fault.file, fault.message, fault.remedy)


def _judge_exercise(expectation: ExerciseCheck, verdict: Verdict, report: Report) -> None:
    finding = verdict.finding.code if verdict.finding else None
    if not keeps_outcome(expectation, verdict.outcome, finding):
        got = f"{verdict.outcome.value} with the finding {finding!r}" if finding else verdict.outcome.value
        said = f" ({_first_line(verdict.mistake.message)})" if verdict.mistake else ""
        message = f"{expectation.file} gets {got}{said} but should get {wanted_outcome(expectation)}"
        remedy = "fix the answer, the cases or its entry in exercise.toml"
        report.add(expectation.attempt_line, Rule.EXERCISE_PROOF, expectation.file, message, remedy)
        return
    report.problems += judge_plans(expectation.exercise, expectation.file, expectation.attempt_line, verdict).problems
    if expectation.is_solution:
        _judge_limits(expectation, verdict, report)
        _judge_checks(expectation, verdict, report)


def _judge_checks(expectation: ExerciseCheck, verdict: Verdict, report: Report) -> None:
    """Compares the number of checks that the page announces with a run that went through all of them."""
    said = expectation.exercise.manifest.checks
    public = sum(case.public for case in verdict.cases)
    hidden = len(verdict.cases) - public
    if said is None or (said.public, said.hidden) == (public, hidden):
        return
    manifest = Report(f"exercises/{expectation.exercise.name}/exercise.toml")
    message = f"[checks] says {said.public} public and {said.hidden} hidden; a run has {public} and {hidden}"
    remedy = f"write public = {public} and hidden = {hidden}, and generate the same number in every run"
    manifest.add(
        expectation.limit_lines.get(CHECKS, 1), Rule.CHECKS, f"{said.public} + {said.hidden}", message, remedy
    )
    report.problems += manifest.problems


def _judge_limits(expectation: ExerciseCheck, verdict: Verdict, report: Report) -> None:
    """Reports limits that are too tight: a right answer may be slower than the reference, as may the machine."""
    limits = expectation.exercise.manifest.limits
    allowed = {
        "cpu": ("cpu_seconds", limits.cpu_seconds),
        "wall": ("wall_seconds", limits.wall_seconds),
        "peak memory": ("memory_mib", float(limits.memory_mib)),
    }
    manifest = Report(f"exercises/{expectation.exercise.name}/exercise.toml")
    for measure in verdict.measures:
        name, limit = allowed.get(measure.name, ("", 0.0))
        if name and measure.value * LEAST_ROOM > limit:
            used = f"{measure.value:.3g} {measure.unit}"
            message = f"{name} is {limit:g}, and the solution alone uses {used}"
            remedy = (
                f"allow at least {LEAST_ROOM} times as much: {name} = {_round_up(measure.value * LEAST_ROOM, name)}"
            )
            manifest.add(expectation.limit_lines.get(name, 1), Rule.TIGHT_LIMIT, f"{limit:g}", message, remedy)
    report.problems += manifest.problems


def _round_up(value: float, name: str) -> str:
    """A round number that is large enough: tenths of a second, or steps of 32 MiB."""
    return str(32 * math.ceil(value / 32)) if name == "memory_mib" else f"{math.ceil(value * 10) / 10:g}"

"""What `--update` writes for the author to review: only what a second run, in fresh processes, gave again."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.checking.committing import write_drill_evidence, write_measure, write_variant
from app.checking.outside import Tools, name_place
from app.checking.stream import AnyResult
from app.checking.writing import write_outputs, write_trace
from app.course.checking.checks import CellCheck, Check, GraphCheck
from app.course.checking.judging import have_same_picture, tidy_output
from app.course.drills import proving
from app.course.drills.proving import DrillCheck
from app.course.problems import ContentProblem, Rule
from app.course.questions.variant_check import MeasureCheck, VariantCheck, has_same_draws, has_same_table
from graders.contract.hello import WorkerHello
from graders.contract.results import RunEnd


@dataclass(frozen=True)
class Change:
    """An output, picture, table or set of draws that is no longer the committed one."""

    check: Check
    result: RunEnd
    found: ContentProblem


WRITTEN: Mapping[Rule, type | tuple[type, ...]] = {
    Rule.GRAPH_CHANGED: GraphCheck,
    Rule.VARIANT_CHANGED: (VariantCheck, DrillCheck),
    Rule.MEASURE_CHANGED: MeasureCheck,
    Rule.CELL_OUTPUT: CellCheck,
}


def is_written_by_update(check: Check, found: ContentProblem) -> bool:
    kind = WRITTEN.get(found.rule)
    return kind is not None and isinstance(check.expectation, kind)


def gives_the_same(change: Change, again: AnyResult) -> bool:
    """Whether a second run gives what the first gave. A measurement that is not exact may differ."""
    expectation, first = change.check.expectation, change.result
    if not isinstance(again, RunEnd) or again.outcome is not first.outcome:
        return False
    match expectation:
        case CellCheck():
            return tidy_output(first.stdout) == tidy_output(again.stdout)
        case GraphCheck():
            return have_same_picture(first.trace, again.trace)
        case VariantCheck():
            return has_same_draws(expectation.question, first, again)
        case DrillCheck():
            return proving.has_same_draws(expectation.drill, first, again)
        case MeasureCheck():
            return not expectation.measure.exact or has_same_table(first, again)
        case _:
            return True


def describe_difference(change: Change) -> ContentProblem:
    """The problem of code that gives something else each time it runs."""
    found = change.found
    message = f"{_name(change)} comes out differently in a second run, so nothing was written"
    remedy = {
        Rule.VARIANT_CHANGED: "draw from `rng` alone: no `random.random()`, no clock, no set whose order matters",
        Rule.MEASURE_CHANGED: "leave out `:exact:` if the numbers are times, or seed what is random",
    }.get(found.rule, "seed what is random (`torch.manual_seed(0)`), and print no time, address or set")
    return ContentProblem(found.path, found.line, Rule.UNREPEATABLE, found.value, message, remedy)


def _name(change: Change) -> str:
    match change.check.expectation:
        case GraphCheck(graph=graph):
            return f"the picture of {graph.id!r}"
        case VariantCheck(question=question):
            return f"the draws of {question.id!r}"
        case DrillCheck(drill=drill):
            return f"the evidence of the drill {drill.id!r}"
        case MeasureCheck(measure=measure):
            return f"the measurement {measure.id!r}"
        case CellCheck(cell=cell):
            return f"the output of {cell.id!r}"
        case _:
            return change.check.name


def write_changes(
    root: Path, changes: Iterable[Change], hello: WorkerHello | None, tools: Tools, today: str
) -> list[str]:
    """Writes each change, and says what was written where. `tools` are those of checks outside the box."""
    outputs: dict[str, dict[str, str]] = {}
    written = []
    for change in changes:
        expectation, result = change.check.expectation, change.result
        match expectation:
            case GraphCheck():
                assert result.trace is not None
                write_trace(expectation.graph.trace_path, result.trace)
            case VariantCheck():
                write_variant(root, expectation, result, hello)
            case DrillCheck():
                write_drill_evidence(root, expectation.drill, result, hello)
            case MeasureCheck():
                place = name_place(hello, change.check.needs, tools) if hello else None
                write_measure(root, expectation, result, place, today)
            case CellCheck():
                outputs.setdefault(change.check.path, {})[expectation.cell.id] = result.stdout
        written.append(f"{change.check.path}:{change.found.line}: {_name(change)}")
    for path, by_cell in outputs.items():
        write_outputs(root, path, by_cell)
    return written

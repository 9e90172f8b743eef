"""The runs that prove a course, and the expected result of each. Pure: another module runs the jobs.

A check is one job for the graders with an expectation of its result: a cell prints what the chapter says it
prints, a claim's code does not raise, a graph is the committed one, an exercise's starter does not pass, its
solution passes, and each attempt gets its outcome and finding.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from app.course.block_tree import blocks_of
from app.course.blocks import OUTSIDE, Cell, Claim, Graph, Incident, Measure, Need, Steps, Switch
from app.course.checking.evidence import hash_claim
from app.course.checking.hidden_setup import cell_job, claim_job, variant_job
from app.course.drills.proving import DrillCheck, proving_job
from app.course.gallery import Snippet
from app.course.language.python_code import find_syntax_mistake
from app.course.language.toml_file import find_line
from app.course.model import Chapter, Course, Exercise
from app.course.problems import Report
from app.course.questions.committed import MEASURES, VARIANTS, MeasureFile, VariantFile, read_file
from app.course.questions.kinds import GraphClick
from app.course.questions.variant_check import MeasureCheck, VariantCheck
from graders.contract.examination import ExamineJob
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.manifest import Attempt
from graders.contract.model import ExerciseName
from graders.contract.results import Outcome

SOLUTION = "solution.py"
MUTANTS = "mutants/"
"""The folder of solutions with one change each. None of them may pass: the cases must catch every change."""

LIMITS = ("cpu_seconds", "wall_seconds", "memory_mib")
CHECKS = "public"


@dataclass(frozen=True)
class CellCheck:
    """`clicked` are the right nodes of questions about the cell's graph, each with its line in the chapter."""

    chapter: Chapter
    cell: Cell
    clicked: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class ClaimCheck:
    chapter: Chapter
    claim: Claim


@dataclass(frozen=True)
class GraphCheck:
    """`committed` is the text of the trace file, or None if there is none."""

    chapter: Chapter
    graph: Graph
    clicked: tuple[tuple[str, int], ...]
    committed: str | None


@dataclass(frozen=True)
class SwitchCheck:
    """An incident with one switch changed: its output must differ from the original."""

    chapter: Chapter
    incident: Incident
    switch: Switch


@dataclass(frozen=True)
class ExerciseCheck:
    """One answer to an exercise. `attempt` is None for the starter, the solution and the mutants."""

    exercise: Exercise
    file: str
    source: str
    folder_digest: str
    attempt: Attempt | None = None
    attempt_line: int = 1
    limit_lines: Mapping[str, int] = field(default_factory=dict)
    """The lines of exercise.toml that set each limit and the number of checks."""

    @property
    def is_solution(self) -> bool:
        return self.file == SOLUTION

    @property
    def is_mutant(self) -> bool:
        return self.file.startswith(MUTANTS)


@dataclass(frozen=True)
class ExamineCheck:
    """An exercise's own programs, drawn from many seeds: before anything is graded with them."""

    exercise: Exercise
    toml: str


@dataclass(frozen=True)
class SnippetCheck:
    """A program of the gallery, which must record a tape."""

    snippet: Snippet


RunExpectation = (
    SnippetCheck | CellCheck | ClaimCheck | GraphCheck | VariantCheck | MeasureCheck | SwitchCheck | DrillCheck
)
Expectation = RunExpectation | ExerciseCheck | ExamineCheck


@dataclass(frozen=True)
class Check:
    """A job with its expectation. `digest` changes with anything that could change the judgement."""

    name: str
    path: str
    job: RunJob | GradeJob | ExamineJob
    expectation: Expectation
    digest: str
    needs: Need = "cpu"

    @property
    def outside(self) -> bool:
        """Whether it runs outside the box, which does not have what it needs."""
        return self.needs in OUTSIDE


@dataclass(frozen=True)
class ExerciseFolder:
    """The files of an exercise by path within its folder; the caller reads them."""

    exercise: Exercise
    files: Mapping[str, str]


def plan_checks(
    course: Course,
    traces: Mapping[str, str],
    folders: Iterable[ExerciseFolder],
    available: Collection[Need],
) -> Iterator[Check]:
    """Every check of the course in reading order. `traces` holds the committed ones by "slug/graph-id".

    Leaves out code that does not parse, which is reported already, and code that needs what is not `available`.
    """
    for chapter in course.chapters:
        yield from _plan_chapter(chapter, traces, available)
    for folder in folders:
        yield from _plan_exercise(folder)
    for snippet in course.gallery:
        if _parses(snippet.source):
            job = RunJob(source=snippet.source)
            digest = _digest("snippet", job.model_dump(), snippet.text)
            yield Check(snippet.path, snippet.path, job, SnippetCheck(snippet), digest)
    for drill in course.drills:
        if _parses(drill.code) and all(_parses(text) for _, text in drill.shared):
            drawn = proving_job(drill)
            digest = _digest("drill", drawn.model_dump(), repr(drill.evidence), repr(drill.question))
            yield Check(f"drills/{drill.id}", drill.path, drawn, DrillCheck(drill), digest)


def _plan_chapter(chapter: Chapter, traces: Mapping[str, str], available: Collection[Need]) -> Iterator[Check]:
    clicked = _clicked_nodes(chapter)
    for cell in blocks_of(Cell, chapter.blocks):
        if _parses(cell.source) and _parses(cell.setup) and cell.needs in available:
            yield _plan_cell(chapter, cell, clicked.get(cell.id, ()))
    for graph in chapter.index.graphs.values():
        if _parses(graph.source) and _parses(graph.setup):
            yield _plan_graph(chapter, graph, clicked.get(graph.id, ()), traces.get(f"{chapter.slug}/{graph.id}"))
    for claim in chapter.index.claims.values():
        if _parses(claim.code) and claim.needs in available:
            yield _plan_claim(chapter, claim)
    yield from _plan_drawn(chapter, traces, available)
    yield from _plan_walkthroughs(chapter, available)


def _plan_walkthroughs(chapter: Chapter, available: Collection[Need]) -> Iterator[Check]:
    """Checks for the code of walks, and for each incident: as it happened, and with each switch changed alone."""
    for steps in blocks_of(Steps, chapter.blocks):
        if _parses(steps.cell.source) and _parses(steps.cell.setup):
            yield _plan_cell(chapter, steps.cell, ())
    for incident in blocks_of(Incident, chapter.blocks):
        cell = incident.cell
        if not (_parses(cell.source) and _parses(cell.setup)) or cell.needs not in available:
            continue
        yield _plan_cell(chapter, cell, ())
        for switch in cell.switches:
            on = {one.name for one in cell.switches if one.on} ^ {switch.name}
            job = cell_job(cell, switched_on=on)
            digest = _digest("switch", job.model_dump(), cell.expected, cell.raises)
            expectation = SwitchCheck(chapter, incident, switch)
            yield Check(f"{chapter.slug}#{cell.id}/{switch.name}", cell.where.path, job, expectation, digest)


def _plan_drawn(chapter: Chapter, committed: Mapping[str, str], available: Collection[Need]) -> Iterator[Check]:
    """Checks for draws and measurements, whose committed files are the expectation."""
    for question in chapter.index.questions.values():
        if question.variant and _parses(question.variant.code):
            job = variant_job(question.variant)
            text = committed.get(f"{chapter.slug}/{VARIANTS}/{question.id}")
            drawn = VariantCheck(chapter, question, read_file(text, VariantFile, Report("")) if text else None)
            digest = _digest("variant", job.model_dump(), text, repr(question))
            yield Check(f"{chapter.slug}#{question.id}", question.where.path, job, drawn, digest)
    for measure in chapter.index.measures.values():
        if _parses(measure.cell.source) and _parses(measure.cell.setup) and measure.cell.needs in available:
            yield _plan_measure(chapter, measure, committed)


def _plan_measure(chapter: Chapter, measure: Measure, committed: Mapping[str, str]) -> Check:
    job = cell_job(measure.cell)
    text, other = (committed.get(f"{chapter.slug}/{MEASURES}/{name}") for name in (measure.id, measure.agrees_with))
    found, agreed = (read_file(each, MeasureFile, Report("")) if each else None for each in (text, other))
    digest = _digest(
        "measure", job.model_dump(), text, measure.exact, repr(measure.chart), *([other] if other else [])
    )
    expectation = MeasureCheck(chapter, measure, found, agreed)
    name, path = f"{chapter.slug}#{measure.id}", measure.where.path
    return Check(name, path, job, expectation, digest, measure.cell.needs)


def _parses(source: str) -> bool:
    return find_syntax_mistake(source) is None


def _clicked_nodes(chapter: Chapter) -> dict[str, tuple[tuple[str, int], ...]]:
    clicked: dict[str, tuple[tuple[str, int], ...]] = {}
    for question in blocks_of(GraphClick, chapter.blocks):
        wanted = tuple((target, question.where.line) for target in question.targets)
        clicked[question.cell] = clicked.get(question.cell, ()) + wanted
    return clicked


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, default=str, sort_keys=True).encode()).hexdigest()[:24]


def _plan_cell(chapter: Chapter, cell: Cell, clicked: tuple[tuple[str, int], ...]) -> Check:
    job = cell_job(cell)
    targets = [target for target, _ in clicked]
    digest = _digest("cell", job.model_dump(), cell.expected, cell.raises, targets)
    return Check(f"{chapter.slug}#{cell.id}", cell.where.path, job, CellCheck(chapter, cell, clicked), digest)


def _plan_graph(chapter: Chapter, graph: Graph, clicked: tuple[tuple[str, int], ...], committed: str | None) -> Check:
    job = RunJob(source=graph.source, setup=graph.setup)
    digest = _digest("graph", job.model_dump(), committed, [target for target, _ in clicked])
    expectation = GraphCheck(chapter, graph, clicked, committed)
    return Check(f"{chapter.slug}#{graph.id}", graph.where.path, job, expectation, digest)


def _plan_claim(chapter: Chapter, claim: Claim) -> Check:
    job = claim_job(claim)
    digest = _digest("claim", hash_claim(claim), job.model_dump())
    expectation = ClaimCheck(chapter, claim)
    return Check(f"{chapter.slug}#{claim.id}", claim.where.path, job, expectation, digest, claim.needs)


def _plan_exercise(folder: ExerciseFolder) -> Iterator[Check]:
    exercise = folder.exercise
    folder_digest = _digest(sorted(folder.files.items()))
    toml = folder.files.get("exercise.toml", "")
    answers: list[tuple[str, Attempt | None]] = [("starter.py", None), (SOLUTION, None)]
    answers += [(f"attempts/{attempt.file}", attempt) for attempt in exercise.manifest.attempts]
    answers += [(file, None) for file in sorted(folder.files) if file.startswith(MUTANTS)]
    examined = ExamineCheck(exercise, toml)
    home = f"exercises/{exercise.name}/exercise.toml"
    job = ExamineJob(exercise=ExerciseName(exercise.name))
    yield Check(f"{exercise.name}/", home, job, examined, _digest("examine", folder_digest))
    limit_lines = {name: find_line(toml, name) for name in (*LIMITS, CHECKS) if name in toml}
    for file, attempt in answers:
        source = folder.files.get(file)
        if source is None:
            continue
        line = find_line(toml, attempt.file) if attempt else 1
        expectation = ExerciseCheck(exercise, file, source, folder_digest, attempt, line, limit_lines)
        said = exercise.manifest.diagnosed_by(attempt)
        graded = GradeJob(exercise=ExerciseName(exercise.name), source=source, diagnosed=said)
        path = f"exercises/{exercise.name}/" + ("exercise.toml" if attempt else file)
        yield Check(f"{exercise.name}/{file}", path, graded, expectation, _digest("exercise", folder_digest, file))


def wanted_outcome(expectation: ExerciseCheck) -> str:
    """The required outcome, in words for a message."""
    if expectation.attempt is None:
        if expectation.is_mutant:
            return "an outcome that distinguishes it from the solution: the cases let it pass, or it does not parse"
        return "passed" if expectation.is_solution else "anything but passed"
    finding = f" with the finding {expectation.attempt.finding!r}" if expectation.attempt.finding else ""
    return f"{expectation.attempt.outcome}{finding}"


def keeps_outcome(expectation: ExerciseCheck, outcome: Outcome, finding: str | None) -> bool:
    """Whether a verdict is the one that the author expects for this answer."""
    if expectation.attempt is not None:
        same_finding = expectation.attempt.finding is None or expectation.attempt.finding == finding
        return outcome is expectation.attempt.outcome and same_finding
    if expectation.is_mutant and outcome is Outcome.SYNTAX_ERROR:
        return False
    return (outcome is Outcome.PASSED) == expectation.is_solution


def describe(expectation: Expectation) -> str:  # noqa: C901 - one flat match over a closed union
    """The kind of check in a word or two, for the progress line."""
    match expectation:
        case SnippetCheck():
            return "program of the gallery"
        case CellCheck():
            return "cell"
        case ClaimCheck():
            return "claim"
        case GraphCheck():
            return "graph"
        case VariantCheck():
            return "variant"
        case DrillCheck():
            return "drill"
        case MeasureCheck():
            return "measurement"
        case SwitchCheck():
            return "switch"
        case ExerciseCheck():
            return "exercise"
        case ExamineCheck():
            return "the cases of"
        case _:
            assert_never(expectation)

"""Runs every trial of a course that is not known to hold, and says what broke."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.course.judging import judge
from app.course.model import Claim, Course, Graph
from app.course.problems import ContentProblem, Rule
from app.course.trials import CellTrial, ClaimTrial, ExerciseFolder, GraphTrial, Trial, describe, plan_trials
from app.course.walk import blocks_of
from app.proving.memory import Memory, identify_engine
from app.proving.stream import GraderFault, GraderStream
from app.proving.writing import EvidenceBook, write_outputs, write_trace
from graders.contract import __file__ as contract_file
from graders.contract.hello import WorkerHello
from graders.contract.results import RunEnd, Verdict

Progress = Callable[[int, int, str], None]

GRADERS = Path(contract_file).parents[1]


@dataclass(frozen=True)
class Wish:
    """What the author asked for. `wants` says whether a file of the course is to be proven."""

    wants: Callable[[str], bool]
    update: bool
    today: str


@dataclass
class Proof:
    """What came of it: problems of the course, faults of the graders, and how much was run."""

    problems: list[ContentProblem] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    ran: int = 0
    reused: int = 0
    waiting_for_gpu: int = 0
    hello: WorkerHello | None = None


def prove_course(course: Course, command: Sequence[str], wish: Wish, show: Progress) -> Proof:
    """Proves what was asked for. Writes evidence as it comes, and remembers what held even when interrupted."""
    memory = Memory(course.root, identify_engine(GRADERS))
    survey = _survey(course, wish, memory, memory.hello) if memory.hello else None
    if survey is not None and not survey.due:
        # All is known already: starting the graders would take longer than everything else.
        survey.finish()
        return survey.proof
    proof = Proof()
    try:
        with GraderStream(command) as stream:
            memory.meet(stream.read_hello())
            assert memory.hello is not None
            survey = _survey(course, wish, memory, memory.hello)
            proof = survey.proof
            _run(survey, stream, show)
            if proof.faults and (words := stream.last_words()):
                proof.faults.append(f"the graders said:\n{words}")
    except GraderFault as fault:
        proof.faults.append(str(fault))
    proof.problems.sort()
    return proof


@dataclass
class _Survey:
    """What is due, and what has come of it so far."""

    course: Course
    wish: Wish
    memory: Memory
    book: EvidenceBook
    due: dict[str, Trial]
    proof: Proof
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    """What cells printed, by path and cell id, where the chapter shall be given it."""

    def finish(self) -> None:
        """Writes what is written once: changed outputs, and evidence without claims that are gone."""
        self.memory.save()
        for path, by_cell in self.outputs.items():
            write_outputs(self.course.root, path, by_cell)
        for chapter in self.course.chapters:
            if self.wish.wants(chapter.where.path):
                self.book.prune(chapter.slug, blocks_of(Claim, chapter.blocks))


def _survey(course: Course, wish: Wish, memory: Memory, hello: WorkerHello) -> _Survey:
    has_gpu = "cuda" in hello.device.lower()
    book = EvidenceBook(course.root, hello, wish.today)
    planned = plan_trials(course, _read_traces(course), _read_folders(course), has_gpu)
    trials = [trial for trial in planned if wish.wants(trial.path)]
    due = {trial.name: trial for trial in trials if not _is_known(trial, memory, book)}
    proof = Proof(reused=len(trials) - len(due), hello=hello)
    if not has_gpu:
        claims = (claim for chapter in course.chapters for claim in blocks_of(Claim, chapter.blocks))
        proof.waiting_for_gpu = sum(claim.needs == "gpu" for claim in claims)
    return _Survey(course, wish, memory, book, due, proof)


def _run(survey: _Survey, stream: GraderStream, show: Progress) -> None:
    due, proof = survey.due, survey.proof
    try:
        for name, result in stream.run({name: trial.job for name, trial in due.items()}):
            trial = due[name]
            proof.ran += 1
            show(proof.ran, len(due), f"{describe(trial.promise)} {name}")
            _settle(trial, result, survey)
    finally:
        survey.finish()


def _is_known(trial: Trial, memory: Memory, book: EvidenceBook) -> bool:
    evident = not isinstance(trial.promise, ClaimTrial) or book.knows(trial.promise)
    return evident and memory.holds(trial.name, trial.digest)


def _settle(trial: Trial, result: RunEnd | Verdict, survey: _Survey) -> None:
    judged = judge(trial, result)
    if judged.fault:
        survey.proof.faults.append(judged.fault)
        return
    if isinstance(trial.promise, ClaimTrial) and isinstance(result, RunEnd):
        survey.book.note(trial.promise, result)
    if judged.problems:
        survey.memory.forget(trial.name)
    else:
        survey.memory.keep(trial.name, trial.digest)
    problems = judged.problems
    if survey.wish.update and isinstance(result, RunEnd):
        problems = tuple(found for found in problems if not _mend(trial, result, found, survey))
    survey.proof.problems += problems


def _mend(trial: Trial, result: RunEnd, found: ContentProblem, survey: _Survey) -> bool:
    """Takes a changed output or picture as the new one, for the author to review. True where that settles it."""
    promise, proof = trial.promise, survey.proof
    if found.rule is Rule.GRAPH_CHANGED and isinstance(promise, GraphTrial) and result.trace is not None:
        write_trace(promise.graph.trace_path, result.trace)
        proof.updated.append(f"{trial.path}:{found.line}: the picture of {promise.graph.id!r}")
        return True
    if found.rule is Rule.CELL_OUTPUT and isinstance(promise, CellTrial):
        survey.outputs.setdefault(trial.path, {})[promise.cell.id] = result.stdout
        proof.updated.append(f"{trial.path}:{found.line}: the output of {promise.cell.id!r}")
        return True
    return False


def _read_traces(course: Course) -> dict[str, str]:
    graphs = [(chapter.slug, graph) for chapter in course.chapters for graph in blocks_of(Graph, chapter.blocks)]
    return {
        f"{slug}/{graph.id}": graph.trace_path.read_text(encoding="utf-8")
        for slug, graph in graphs
        if graph.trace_path.is_file()
    }


def _read_folders(course: Course) -> list[ExerciseFolder]:
    folders = []
    for exercise in course.exercises.values():
        paths = (path for path in exercise.folder.rglob("*") if path.suffix in (".py", ".toml"))
        files = {
            path.relative_to(exercise.folder).as_posix(): path.read_text(encoding="utf-8", errors="replace")
            for path in sorted(paths)
        }
        folders.append(ExerciseFolder(exercise, files))
    return folders

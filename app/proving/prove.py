"""Runs every trial of a course that is not known to hold, and says what broke."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.course.blocks import Claim, Graph
from app.course.drawing import MeasureTrial, VariantTrial
from app.course.drawn import MEASURES, VARIANTS
from app.course.gallery import read_gallery
from app.course.judging import Judged, judge
from app.course.loader import load_course
from app.course.model import Course
from app.course.problems import ContentProblem, Rule
from app.course.trials import CellTrial, ClaimTrial, ExerciseFolder, GraphTrial, Trial, describe, plan_trials
from app.course.walk import blocks_of
from app.proving.committing import write_measure, write_variant
from app.proving.memory import Memory, identify_engine
from app.proving.stream import GraderFault, GraderStream
from app.proving.writing import EvidenceBook, wall_seconds, write_outputs, write_trace
from graders.contract import __file__ as contract_file
from graders.contract.hello import WorkerHello
from graders.contract.jobs import GradeJob
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
    repeated: int = 0
    waiting_for_gpu: int = 0
    waiting_for_meter: tuple[str, ...] = ()
    """Exercises whose peak nothing measures here."""
    hello: WorkerHello | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each run took on the wall clock of the box, by trial."""


def prove_course(course: Course, command: Sequence[str], wish: Wish, show: Progress) -> Proof:
    """Proves what was asked for. Writes evidence as it comes, and remembers what held even when interrupted."""
    memory = Memory(course.root, identify_engine(GRADERS))
    if memory.hello is None and not _plan(course, wish, has_gpu=False):
        return Proof()
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
    mended: set[str] = field(default_factory=set)

    def finish(self) -> None:
        """Writes what is written once: changed outputs, and evidence without claims that are gone."""
        for path, by_cell in self.outputs.items():
            write_outputs(self.course.root, path, by_cell)
        self._keep_mended()
        self.memory.save()
        for chapter in self.course.chapters:
            if self.wish.wants(chapter.where.path):
                self.book.prune(chapter.slug, blocks_of(Claim, chapter.blocks))

    def _keep_mended(self) -> None:
        """What was written as it was run holds as it is written now: no second run has to find that out."""
        if not self.mended:
            return
        course, _ = load_course(self.course.root)
        for trial in _plan(course, self.wish, has_gpu=True):
            if trial.name in self.mended:
                self.memory.keep(trial.name, trial.digest)


def _plan(course: Course, wish: Wish, *, has_gpu: bool) -> list[Trial]:
    gallery = read_gallery(course.root)
    planned = plan_trials(course, _read_committed(course), _read_folders(course), has_gpu, gallery)
    return [trial for trial in planned if wish.wants(trial.path)]


def _survey(course: Course, wish: Wish, memory: Memory, hello: WorkerHello) -> _Survey:
    has_gpu = "cuda" in hello.device.lower()
    book = EvidenceBook(course.root, hello, wish.today)
    trials = _plan(course, wish, has_gpu=has_gpu)
    unmeasured = frozenset[str]() if hello.memory_cgroup else find_metered(course)
    trials = [trial for trial in trials if not (isinstance(trial.job, GradeJob) and trial.job.exercise in unmeasured)]
    due = {trial.name: trial for trial in trials if not _is_known(trial, memory, book)}
    proof = Proof(reused=len(trials) - len(due), hello=hello)
    proof.waiting_for_meter = tuple(sorted(unmeasured))
    if not has_gpu:
        claims = (claim for chapter in course.chapters for claim in blocks_of(Claim, chapter.blocks))
        proof.waiting_for_gpu = sum(claim.needs == "gpu" for claim in claims)
    return _Survey(course, wish, memory, book, due, proof)


def find_metered(course: Course) -> frozenset[str]:
    """The exercises that only a worker with a memory cgroup can judge."""
    return frozenset(name for name, exercise in course.exercises.items() if exercise.manifest.memory_meter)


def _run(survey: _Survey, stream: GraderStream, show: Progress) -> None:
    """Runs what is due, and what was doubtful once more: on a busy machine a fault or a slow run may pass."""
    try:
        doubtful = _run_each(survey, stream, survey.due, show, last=False)
        survey.proof.repeated = len(doubtful)
        if doubtful:
            _run_each(survey, stream, doubtful, show, last=True)
    finally:
        survey.finish()


def _run_each(
    survey: _Survey, stream: GraderStream, due: Mapping[str, Trial], show: Progress, *, last: bool
) -> dict[str, Trial]:
    """Runs trials, those with the same job together, and settles each. Gives back what is doubtful, if not `last`."""
    alike: dict[str, list[Trial]] = {}
    for trial in due.values():
        alike.setdefault(trial.job.model_dump_json(), []).append(trial)
    groups = {trials[0].name: trials for trials in alike.values()}
    doubtful: dict[str, Trial] = {}
    done = 0
    for name, result in stream.run({name: trials[0].job for name, trials in groups.items()}):
        survey.proof.ran += 1
        survey.proof.seconds[name] = wall_seconds(result)
        for trial in groups[name]:
            done += 1
            show(done, len(due), f"{describe(trial.promise)} {trial.name}")
            judged = judge(trial, result)
            if judged.is_doubtful and not last:
                doubtful[trial.name] = trial
            else:
                _settle(trial, result, judged, survey)
    return doubtful


def _is_known(trial: Trial, memory: Memory, book: EvidenceBook) -> bool:
    evident = not isinstance(trial.promise, ClaimTrial) or book.knows(trial.promise)
    return evident and memory.holds(trial.name, trial.digest)


def _settle(trial: Trial, result: RunEnd | Verdict, judged: Judged, survey: _Survey) -> None:
    if judged.fault:
        survey.proof.faults.append(judged.fault)
        return
    if isinstance(trial.promise, ClaimTrial) and isinstance(result, RunEnd):
        survey.book.note(trial.promise, result)
    problems = judged.problems
    if survey.wish.update and isinstance(result, RunEnd):
        problems = tuple(found for found in problems if not _mend(trial, result, found, survey))
        if judged.problems and not problems:
            survey.mended.add(trial.name)
    if judged.problems:
        survey.memory.forget(trial.name)
    else:
        survey.memory.keep(trial.name, trial.digest)
    survey.proof.problems += problems


def _mend(trial: Trial, result: RunEnd, found: ContentProblem, survey: _Survey) -> bool:
    """Takes a changed output or picture as the new one, for the author to review. True where that settles it."""
    promise, proof = trial.promise, survey.proof
    if found.rule is Rule.GRAPH_CHANGED and isinstance(promise, GraphTrial) and result.trace is not None:
        write_trace(promise.graph.trace_path, result.trace)
        proof.updated.append(f"{trial.path}:{found.line}: the picture of {promise.graph.id!r}")
        return True
    if found.rule is Rule.VARIANT_CHANGED and isinstance(promise, VariantTrial):
        write_variant(survey.course.root, promise, result, survey.memory.hello)
        proof.updated.append(f"{trial.path}:{found.line}: the draws of {promise.question.id!r}")
        return True
    if found.rule is Rule.MEASURE_CHANGED and isinstance(promise, MeasureTrial):
        write_measure(survey.course.root, promise, result, survey.memory.hello, survey.wish.today)
        proof.updated.append(f"{trial.path}:{found.line}: the measurement {promise.measure.id!r}")
        return True
    if found.rule is Rule.CELL_OUTPUT and isinstance(promise, CellTrial):
        survey.outputs.setdefault(trial.path, {})[promise.cell.id] = result.stdout
        proof.updated.append(f"{trial.path}:{found.line}: the output of {promise.cell.id!r}")
        return True
    return False


def _read_committed(course: Course) -> dict[str, str]:
    """Traces by "slug/graph", draws by "slug/variants/question", tables by "slug/measures/measure"."""
    drawn = {
        f"{chapter.slug}/{kind}/{path.stem}": path.read_text(encoding="utf-8")
        for chapter in course.chapters
        for kind in (VARIANTS, MEASURES)
        for path in sorted((course.root / "chapters" / chapter.slug / kind).glob("*.json"))
    }
    graphs = [(chapter.slug, graph) for chapter in course.chapters for graph in blocks_of(Graph, chapter.blocks)]
    return drawn | {
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

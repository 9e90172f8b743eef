"""Runs every check of a course that is not known to hold, and reports those that fail."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from app.checking.changes import Change, describe_difference, gives_the_same, is_written_by_update, write_changes
from app.checking.memory import Memory, identify_engine
from app.checking.outside import Tools, run_outside
from app.checking.stream import AnyResult, GraderFault, GraderStream
from app.checking.writing import EvidenceBook, wall_seconds
from app.course.blocks import OUTSIDE, Need
from app.course.checking.checks import Check, ClaimCheck, ExerciseFolder, describe, plan_checks
from app.course.checking.judging import Judged, judge
from app.course.loader import load_course
from app.course.model import Course
from app.course.problems import ContentProblem, Rule
from app.course.questions.committed import MEASURES, VARIANTS
from graders.contract import __file__ as contract_file
from graders.contract.examination import ExamineJob
from graders.contract.hello import WorkerHello
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.results import RunEnd

Progress = Callable[[int, int, str], None]

GRADERS = Path(contract_file).parents[1]


@dataclass
class Counted:
    """How many of the checks are done, over several calls."""

    show: Progress
    total: int
    done: int = 0

    def count(self, what: str) -> None:
        self.done += 1
        self.show(self.done, self.total, what)


@dataclass(frozen=True)
class CheckOptions:
    """What the author asked for. `wants` says whether to prove a file of the course.

    `unreadable` are exercises whose programs the text check has reported already: nothing can be graded with them.
    """

    wants: Callable[[str], bool]
    update: bool
    today: str
    unreadable: frozenset[str] = frozenset()
    tools: Tools = field(default_factory=dict)
    """What runs code outside the box, by need, if the author asked for that; empty otherwise."""


@dataclass
class Proof:
    """The result: problems of the course, faults of the graders, and how much was run."""

    problems: list[ContentProblem] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    ran: int = 0
    reused: int = 0
    repeated: int = 0
    waiting_for_gpu: int = 0
    waiting_outside: dict[Need, int] = field(default_factory=dict)
    """How many claims and measurements need a run outside the box that this check does not make, by need."""
    waiting_for_meter: tuple[str, ...] = ()
    """Exercises whose peak memory this machine cannot measure."""
    hello: WorkerHello | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    """The seconds of wall-clock time that each run took in the box, by check."""


def prove_course(course: Course, command: Sequence[str], options: CheckOptions, show: Progress) -> Proof:
    """Proves what was asked for. Writes evidence after each run, and remembers what held even when interrupted."""
    memory = Memory(course.root, identify_engine(GRADERS))
    if memory.hello is None and not _plan(course, options, _name_available(options, "")):
        return Proof()
    check_run = _begin(course, options, memory, memory.hello) if memory.hello else None
    if check_run is not None and not check_run.due:
        # Nothing is due, and starting the graders would take longer than everything else.
        check_run.finish()
        return check_run.proof
    proof = Proof()
    try:
        with GraderStream(command) as stream:
            memory.meet(stream.read_hello())
            assert memory.hello is not None
            check_run = _begin(course, options, memory, memory.hello)
            proof = check_run.proof
            _run(check_run, stream, show)
            if proof.faults and (words := stream.last_words()):
                proof.faults.append(f"the graders said:\n{words}")
        _repeat_changes(check_run, command, show)
        check_run.writes = True
    except GraderFault as fault:
        proof.faults.append(str(fault))
    finally:
        if check_run is not None:
            check_run.finish()
    proof.problems.sort()
    return proof


@dataclass
class CheckRun:
    """The checks that are due, and the results so far."""

    course: Course
    options: CheckOptions
    memory: Memory
    book: EvidenceBook
    due: dict[str, Check]
    proof: Proof
    changes: list[Change] = field(default_factory=list)
    """What `--update` may write, once a second run in fresh processes has given the same."""
    writes: bool = False
    """Whether the changes have been repeated: an interrupted run writes none of them."""
    rewritten: set[str] = field(default_factory=set)

    def finish(self) -> None:
        """Writes what is written only at the end: changed outputs, and evidence without removed claims."""
        if self.writes:
            hello = self.memory.hello
            tools, today = self.options.tools, self.options.today
            self.proof.updated += write_changes(self.course.root, self.changes, hello, tools, today)
            self._keep_rewritten()
        self.memory.save()
        for chapter in self.course.chapters:
            if self.options.wants(chapter.where.path):
                self.book.prune(chapter.slug, chapter.index.claims)

    def _keep_rewritten(self) -> None:
        """Remembers that updated files now hold, so that no second run is needed."""
        if not self.rewritten:
            return
        course, _ = load_course(self.course.root)
        for check in _plan(course, self.options, get_args(Need)):
            if check.name in self.rewritten:
                self.memory.keep(check.name, check.digest)


def _plan(course: Course, options: CheckOptions, available: Collection[Need]) -> list[Check]:
    planned = plan_checks(course, _read_committed(course), _read_folders(course), available)
    return [check for check in planned if options.wants(check.path) and _can_run(check, options)]


def _can_run(check: Check, options: CheckOptions) -> bool:
    return not (isinstance(check.job, GradeJob | ExamineJob) and check.job.exercise in options.unreadable)


def _begin(course: Course, options: CheckOptions, memory: Memory, hello: WorkerHello) -> CheckRun:
    available = _name_available(options, hello.device)
    book = EvidenceBook(course.root, hello, options.today, options.tools)
    checks = _plan(course, options, available)
    unmeasured = frozenset[str]() if hello.memory_cgroup else find_metered(course)
    checks = [check for check in checks if not (isinstance(check.job, GradeJob) and check.job.exercise in unmeasured)]
    due = {check.name: check for check in checks if not _is_known(check, memory, book)}
    proof = Proof(reused=len(checks) - len(due), hello=hello)
    proof.waiting_for_meter = tuple(sorted(unmeasured))
    claims = [claim.needs for chapter in course.chapters for claim in chapter.index.claims.values()]
    measures = [measure.cell.needs for chapter in course.chapters for measure in chapter.index.measures.values()]
    if "gpu" not in available:
        proof.waiting_for_gpu = claims.count("gpu")
    waiting = Counter(need for need in [*claims, *measures] if need in OUTSIDE and need not in available)
    proof.waiting_outside = dict(sorted(waiting.items()))
    return CheckRun(course, options, memory, book, due, proof)


def _name_available(options: CheckOptions, device: str) -> set[Need]:
    """What this check has to run code with, on the graders' device."""
    available: set[Need] = {"cpu"}
    if device != "cpu":
        available.add("gpu")
    return available | set(options.tools)


def find_metered(course: Course) -> frozenset[str]:
    """The exercises that need a worker with a memory cgroup."""
    return frozenset(name for name, exercise in course.exercises.items() if exercise.manifest.memory_meter)


def _run(check_run: CheckRun, stream: GraderStream, show: Progress) -> None:
    """Runs what is due, and doubtful checks once more: a fault or a slow run may be due to a busy machine."""
    due = check_run.due
    examined = {name: check for name, check in due.items() if isinstance(check.job, ExamineJob)}
    _run_each(check_run, stream, examined, Counted(show, len(due)), last=True)
    rest = {name: check for name, check in due.items() if name not in examined}
    rest = {name: check for name, check in rest.items() if not _is_broken_exercise(check, check_run)}
    total = len(examined) + len(rest)
    doubtful = _run_each(check_run, stream, rest, Counted(show, total, len(examined)), last=False)
    check_run.proof.repeated = len(doubtful)
    if doubtful:
        _run_each(check_run, stream, doubtful, Counted(show, len(doubtful)), last=True)


def _repeat_changes(check_run: CheckRun, command: Sequence[str], show: Progress) -> None:
    """Runs what `--update` would write once more, in fresh processes, and keeps what gave the same."""
    if not check_run.changes:
        return
    checks = {change.check.name: change.check for change in check_run.changes}
    with GraderStream(command) as stream:
        stream.read_hello()
        again = {}
        for name, result in _results(stream, checks):
            again[name] = result
            show(len(again), len(checks), f"the second run of {name}")
    differing = [change for change in check_run.changes if not gives_the_same(change, again[change.check.name])]
    check_run.changes = [change for change in check_run.changes if change not in differing]
    check_run.rewritten -= {change.check.name for change in differing}
    check_run.proof.problems += [describe_difference(change) for change in differing]


def _is_broken_exercise(check: Check, check_run: CheckRun) -> bool:
    """Nothing is graded with an exercise whose own programs are wrong: each file would say the same once more."""
    if not isinstance(check.job, GradeJob):
        return False
    folder = f"exercises/{check.job.exercise}/"
    return any(
        found.path.startswith(folder) for found in check_run.proof.problems if found.rule is Rule.EXERCISE_CODE
    )


def _run_each(
    check_run: CheckRun, stream: GraderStream, due: Mapping[str, Check], show: Counted, *, last: bool
) -> dict[str, Check]:
    """Runs checks, sharing one run among equal jobs, and settles each. Returns the doubtful ones unless `last`."""
    alike: dict[tuple[str, Need], list[Check]] = {}
    for check in due.values():
        alike.setdefault((check.job.model_dump_json(), check.needs), []).append(check)
    groups = {checks[0].name: checks for checks in alike.values()}
    doubtful: dict[str, Check] = {}
    for name, result in _results(stream, {name: checks[0] for name, checks in groups.items()}):
        check_run.proof.ran += 1
        check_run.proof.seconds[name] = wall_seconds(result)
        for check in groups[name]:
            show.count(f"{describe(check.expectation)} {check.name}")
            judged = judge(check, result)
            if judged.is_doubtful and not last:
                doubtful[check.name] = check
            else:
                _settle(check, result, judged, check_run)
    return doubtful


def _results(stream: GraderStream, checks: Mapping[str, Check]) -> Iterator[tuple[str, AnyResult]]:
    """Runs each check where it belongs: in the box, and then outside it what the box cannot run."""
    yield from stream.run({name: check.job for name, check in checks.items() if not check.outside})
    outside = {name: check for name, check in checks.items() if check.outside}
    yield from run_outside(
        {name: (check.job, check.needs) for name, check in outside.items() if isinstance(check.job, RunJob)}
    )


def _is_known(check: Check, memory: Memory, book: EvidenceBook) -> bool:
    evident = not isinstance(check.expectation, ClaimCheck) or book.knows(check.expectation)
    return evident and memory.holds(check.name, check.digest)


def _settle(check: Check, result: AnyResult, judged: Judged, check_run: CheckRun) -> None:
    if judged.fault:
        check_run.proof.faults.append(judged.fault)
        return
    if isinstance(check.expectation, ClaimCheck) and isinstance(result, RunEnd):
        check_run.book.note(check.expectation, result)
    problems = judged.problems
    if check_run.options.update and isinstance(result, RunEnd):
        changes = [Change(check, result, found) for found in problems if is_written_by_update(check, found)]
        check_run.changes += changes
        problems = tuple(found for found in problems if found not in [change.found for change in changes])
        if changes and not problems:
            check_run.rewritten.add(check.name)
    if judged.problems:
        check_run.memory.forget(check.name)
    else:
        check_run.memory.keep(check.name, check.digest)
    check_run.proof.problems += problems


def _read_committed(course: Course) -> dict[str, str]:
    """Traces by "slug/graph", draws by "slug/variants/question", tables by "slug/measures/measure"."""
    drawn = {
        f"{chapter.slug}/{kind}/{path.stem}": path.read_text(encoding="utf-8")
        for chapter in course.chapters
        for kind in (VARIANTS, MEASURES)
        for path in sorted((course.root / "chapters" / chapter.slug / kind).glob("*.json"))
    }
    graphs = [(chapter.slug, graph) for chapter in course.chapters for graph in chapter.index.graphs.values()]
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

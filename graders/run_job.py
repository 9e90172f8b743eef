"""One job from start to end: exercise, cases, box, judge. Raises nothing: our own fault is a result too."""

import json
import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from graders.box.errand import Box, BoxClosed, BoxFault, Cause, Errand, Exit, Run
from graders.contract.events import EventKind, Output
from graders.contract.jobs import Flavour, GradeJob, RunJob
from graders.contract.limits import MAX_TRACE_BYTES, Limits
from graders.contract.manifest import Judge, Tolerance
from graders.contract.model import Message
from graders.contract.results import CaseResult, Finding, Measure, MeasuredBy, Outcome, RunEnd, Verdict
from graders.trusted.diagnosis import weigh_diagnosis
from graders.trusted.differing import tell_difference
from graders.trusted.exercise import Exercise, load_exercise
from graders.trusted.faults import GraderFault
from graders.trusted.findings import find_code, find_for_exercise, find_mistake, find_outcome
from graders.trusted.judge import Ruling, judge_answer, outcome_of_mistake
from graders.trusted.machine import Machine
from graders.trusted.metering import judge_schedule
from graders.trusted.reference import PreparedCase, ReferenceRun, ReferenceServer
from graders.trusted.render import render_answer
from graders.trusted.text import TextStream, read_text
from graders.trusted.trace_reader import MOST_DOCUMENT_BYTES, read_report
from graders.trusted.wire import CASE, decode_answer, read_layout

OnEvent = Callable[[EventKind, Message], None]
LOG = logging.getLogger(__name__)
DRIVERS = {Judge.ANSWERS: "graded", Judge.MACHINE: "metered"}
SIGSYS = 31
CANCEL_POLL_SECONDS = 0.1


def run_job(
    job: GradeJob | RunJob,
    box: Box,
    exercises_root: Path,
    reference: ReferenceServer,
    on_event: OnEvent,
    cancelled: threading.Event,
) -> Verdict | RunEnd:
    """Judge a submission or run a cell in `box`. `on_event` gets output and cases as they come, from this thread."""
    try:
        if isinstance(job, GradeJob):
            return grade(job, box, load_exercise(exercises_root, job.exercise), reference, on_event, cancelled)
        return run_cell(job, box, on_event, cancelled)
    except (BoxFault, GraderFault) as fault:
        LOG.error("grader fault: %s", fault)
    except Exception:
        LOG.exception("grader fault: unexpected error in run_job")
    profile = box.profile.value
    finding = find_outcome(Outcome.GRADER_FAULT)
    if isinstance(job, GradeJob):
        name, look = job.exercise, job.public_only
        return Verdict(
            outcome=Outcome.GRADER_FAULT, exercise=name, finding=finding, public_only=look, profile=profile
        )
    return RunEnd(outcome=Outcome.GRADER_FAULT, finding=finding, profile=profile)


def grade(
    job: GradeJob,
    box: Box,
    exercise: Exercise,
    reference: ReferenceServer,
    on_event: OnEvent,
    cancelled: threading.Event,
) -> Verdict:
    """Expected answers first, then the learner's. The seed is this run's own and never leaves this side.

    A learner's word on the fault is weighed only when the code holds, and never by anything that ran with it.
    """
    manifest = exercise.manifest
    payload = json.dumps({"probe": exercise.probe, "source": job.source}).encode()
    with reference.prepare(exercise, secrets.randbits(256)) as answers:
        driver = DRIVERS[manifest.judge]
        errand = Errand(manifest.flavour, driver, payload, manifest.limits, _output_sink(on_event))
        with _running(box, errand, cancelled) as run:
            asking = Asking(exercise, answers, run, on_event, public_only=job.public_only)
            exit_ = asking.ask_all()
    outcome, finding = asking.conclude(exit_)
    weighed = outcome is Outcome.PASSED and manifest.diagnosis is not None
    if outcome is Outcome.PASSED and (finding := weigh_diagnosis(job.diagnosed, manifest)):
        outcome = Outcome.WRONG_ANSWER
    return Verdict(
        outcome=outcome,
        exercise=job.exercise,
        finding=finding,
        cases=tuple(asking.results),
        cases_total=len(asking.asked),
        public_only=job.public_only,
        diagnosis_right=finding is None if weighed else None,
        mistake=next((ruling.mistake for ruling in asking.rulings if ruling.mistake), None),
        stdout=read_text(exit_.stdout),
        stderr=read_text(exit_.stderr),
        measures=measure(exit_) + asking.measure(),
        profile=box.profile.value,
    )


class Asking:
    """Case after case through one run: the next one goes in only when the one before is answered.

    A case is known by its number among all, also where only the public ones are `asked`.
    """

    def __init__(
        self, exercise: Exercise, answers: ReferenceRun, run: Run, on_event: OnEvent, *, public_only: bool
    ) -> None:
        self.exercise = exercise
        self.answers = answers
        self.public_only = public_only
        self.asked = [each for each in enumerate(answers.cases) if each[1].facts.public or not public_only]
        if not self.asked:
            raise GraderFault(f"{exercise.name}: no case is public, so there is nothing to look at; make one public")
        self.run = run
        self.on_event = on_event
        self.results: list[CaseResult] = []
        self.rulings: list[Ruling] = []

    def ask_all(self) -> Exit:
        """Stops at the first breach of the protocol, or when nobody answers any more."""
        try:
            for number, case in self.asked:
                ruling = self._ask(number, case)
                self._note(number, case, ruling)
                if not ruling.goes_on:
                    break
        except BoxClosed:
            return self.run.wait()
        return self.run.stop()

    def conclude(self, exit_: Exit) -> tuple[Outcome, Finding | None]:
        """The first failing case decides; a run that ended before all were answered has not passed."""
        if exit_.cause is Cause.CANCELLED:
            return Outcome.CANCELLED, find_outcome(Outcome.CANCELLED)
        for ruling, result in zip(self.rulings, self.results, strict=True):
            if not result.passed:
                return ruling.outcome, result.finding
        if len(self.results) == len(self.asked):
            return Outcome.OK if self.public_only else Outcome.PASSED, None
        outcome = outcome_of_exit(exit_)
        _, waiting = self.asked[len(self.results)]
        if outcome is Outcome.TIME_LIMIT and waiting.facts.slow:
            return outcome, find_for_exercise(waiting.facts.slow, self.exercise.manifest)
        return outcome, find_outcome(outcome, limit=describe_limit(outcome, exit_, self.exercise.manifest.limits))

    def measure(self) -> tuple[Measure, ...]:
        """Of a metered machine: what it counted in the case that decided, or in the last that learners may see."""
        shown = [
            ruling.metered.measures
            for ruling, result in zip(self.rulings, self.results, strict=True)
            if ruling.metered and (result.public or not result.passed)
        ]
        return shown[-1] if shown else ()

    def _ask(self, number: int, case: PreparedCase) -> Ruling:
        # A file that fails as it is loaded says so and ends, perhaps before this is written: its word is still there.
        with suppress(BoxClosed):
            self.run.send(case.question.numbered(CASE, number))
        if case.facts.machine is None:
            return judge_answer(number, case, self.exercise.manifest.tolerance, self.run.receive)
        machine = Machine(case.facts.machine, np.random.default_rng(secrets.randbits(128)))
        return judge_schedule(number, machine, self.run.send, self.run.receive)

    def _note(self, number: int, case: PreparedCase, ruling: Ruling) -> None:
        finding = None if ruling.outcome is Outcome.PASSED else self._find(number, case, ruling)
        result = present_case(case, ruling, finding, self.exercise.manifest.tolerance)
        self.rulings.append(ruling)
        self.results.append(result)
        self.on_event(EventKind.CASE, result)

    def _find(self, number: int, case: PreparedCase, ruling: Ruling) -> Finding:
        if ruling.mistake:
            limit = describe_limit(ruling.outcome, None, self.exercise.manifest.limits)
            return find_mistake(ruling.outcome, ruling.mistake, missing_name=ruling.missing_name, limit=limit)
        if ruling.dtype == "NoneType":
            return find_code("nothing-returned")
        if ruling.finding:
            # In the exercise's own words, where it has some for that.
            known = ruling.finding.code in self.exercise.manifest.findings
            return find_for_exercise(ruling.finding.code, self.exercise.manifest) if known else ruling.finding
        if ruling.outcome is not Outcome.WRONG_ANSWER:
            return find_outcome(ruling.outcome)
        code = self.answers.diagnose(number, ruling.frame) if ruling.frame else None
        return find_for_exercise(code or case.facts.finding, self.exercise.manifest)


def present_case(
    case: PreparedCase, ruling: Ruling, finding: Finding | None, tolerance: Tolerance
) -> CaseResult:
    """A case as its learner may see it: of a hidden one, what it checks and no value."""
    facts = case.facts
    passed = ruling.outcome is Outcome.PASSED
    if not facts.public:
        return CaseResult(name=facts.name, idea=facts.idea, passed=passed, public=False, finding=finding)
    got, expected = describe_answers(case, ruling)
    told = tell_difference(case, ruling, tolerance)
    return CaseResult(
        name=facts.name,
        idea=facts.idea,
        passed=passed,
        public=True,
        input=facts.shown,
        got=got,
        expected=expected,
        finding=finding,
        measures=ruling.metered.measures if ruling.metered else (),
        schedule=ruling.metered.schedule if ruling.metered else None,
        difference=told.difference,
        graph=told.graph,
    )


def describe_answers(case: PreparedCase, ruling: Ruling) -> tuple[str, str]:
    """What came and what was expected, as text."""
    if ruling.metered:
        return ruling.metered.used, ruling.metered.budget
    got = render_answer(ruling.answer) if ruling.answer is not None else ruling.layout
    return got, render_answer(decode_answer(read_layout(case.expected.header), case.expected.body))


def run_cell(job: RunJob, box: Box, on_event: OnEvent, cancelled: threading.Event) -> RunEnd:
    """Run a free cell: its text streams out, and one document comes at its end."""
    engine = "torch" if job.flavour is Flavour.TORCH else "learner"
    caps = {"document_bytes": MOST_DOCUMENT_BYTES, "max_document_bytes": MAX_TRACE_BYTES}
    order = {
        "source": job.source,
        "setup": job.setup,
        "want_trace": job.want_trace,
        "engine": engine,
        "caps": caps,
    }
    errand = Errand(job.flavour, "cell", json.dumps(order).encode(), job.limits, _output_sink(on_event))
    with _running(box, errand, cancelled) as run:
        raw = run.receive_at_most(MOST_DOCUMENT_BYTES + 1)
        # Longer than any honest report: nobody reads on, so the child could wait for us until its time is up.
        exit_ = run.stop() if len(raw) > MOST_DOCUMENT_BYTES else run.wait()
    return conclude_cell(job, raw, exit_, box)


def conclude_cell(job: RunJob, raw: bytes, exit_: Exit, box: Box) -> RunEnd:
    report = read_report(raw) if exit_.cause in (Cause.EXITED, Cause.STOPPED) else None
    finding = None
    refused = report.trace_refused if report else ""
    if report and report.mistake:
        outcome = outcome_of_mistake(report.mistake, unreadable=report.unreadable)
        limit = describe_limit(outcome, None, job.limits)
        finding = find_mistake(outcome, report.mistake, missing_name=False, limit=limit)
    elif report and report.ok:
        outcome = Outcome.OK
    elif exit_.cause is Cause.EXITED and not raw:
        outcome = Outcome.NO_RESULT if exit_.exit_code else Outcome.OK
        finding = find_code("left-early", str(exit_.exit_code))
    else:
        outcome = outcome_of_exit(exit_) if not raw or exit_.cause is not Cause.EXITED else Outcome.PROTOCOL_ERROR
        finding = find_outcome(outcome, limit=describe_limit(outcome, exit_, job.limits))
    return RunEnd(
        outcome=outcome,
        finding=finding,
        mistake=report.mistake if report else None,
        stdout=read_text(exit_.stdout),
        stderr=read_text(exit_.stderr),
        output_truncated=exit_.output_truncated,
        trace=report.trace if report else None,
        trace_refused=refused,
        measures=measure(exit_),
        profile=box.profile.value,
    )


def outcome_of_exit(exit_: Exit) -> Outcome:
    """What the kernel and the box say of a run that did not answer. No exit status is ever a pass."""
    match exit_.cause:
        case Cause.CPU_LIMIT | Cause.WALL_LIMIT:
            return Outcome.TIME_LIMIT
        case Cause.MEMORY_LIMIT:
            return Outcome.MEMORY_LIMIT
        case Cause.OUTPUT_LIMIT:
            return Outcome.OUTPUT_LIMIT
        case Cause.CANCELLED:
            return Outcome.CANCELLED
        case Cause.STOPPED:
            return Outcome.PROTOCOL_ERROR
        case Cause.SIGNALLED:
            return Outcome.FORBIDDEN if exit_.signal == SIGSYS else Outcome.CRASHED
        case Cause.EXITED:
            return Outcome.NO_RESULT


def describe_limit(outcome: Outcome, exit_: Exit | None, limits: Limits) -> str:
    """The limit that was reached, in words with its unit."""
    match outcome:
        case Outcome.TIME_LIMIT if exit_ is not None and exit_.cause is Cause.CPU_LIMIT:
            return f"{limits.cpu_seconds:g} s of computing"
        case Outcome.TIME_LIMIT:
            return f"{limits.wall_seconds:g} s"
        case Outcome.MEMORY_LIMIT:
            return f"{limits.memory_mib} MiB"
        case Outcome.OUTPUT_LIMIT:
            return f"{limits.output_kib} KiB"
        case _:
            return ""


def measure(exit_: Exit) -> tuple[Measure, ...]:
    """Facts of the kernel about the process, each with its unit."""
    facts = [("cpu", exit_.cpu_seconds, "s"), ("wall", exit_.wall_seconds, "s")]
    if exit_.peak_memory_bytes is not None:
        facts.append(("peak memory", exit_.peak_memory_bytes / 2**20, "MiB"))
    return tuple(Measure(name=n, value=v, unit=u, measured_by=MeasuredBy.KERNEL) for n, v, u in facts)


@contextmanager
def _running(box: Box, errand: Errand, cancelled: threading.Event) -> Iterator[Run]:
    """A run that is over when the block is, and that ends early when `cancelled` is set."""
    run = box.start(errand)
    done = threading.Event()

    def watch() -> None:
        while not done.wait(CANCEL_POLL_SECONDS):
            if cancelled.is_set():
                run.stop(Cause.CANCELLED)
                return

    watcher = threading.Thread(target=watch, name="cancel-watch", daemon=True)
    watcher.start()
    try:
        yield run
    finally:
        done.set()
        run.stop()
        watcher.join()


def _output_sink(on_event: OnEvent) -> Callable[[str, bytes], None]:
    """What the learner's program prints, as text, on its way to whoever watches."""
    streams = {"stdout": TextStream(), "stderr": TextStream()}

    def sink(stream: str, piece: bytes) -> None:
        if text := streams[stream].read(piece):
            on_event(EventKind.OUTPUT, Output(stream="stdout" if stream == "stdout" else "stderr", text=text))

    return sink

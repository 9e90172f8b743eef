"""Runs one job from start to end: exercise, cases, box, judge. Raises nothing: our own fault is a result too."""

import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from graders.box.interface import Box, BoxFault, BoxRequest, Cause, Driver, Exit, Run
from graders.contract.events import EventKind, OnEvent, Output
from graders.contract.jobs import Device, Flavour, GradeJob, RunJob
from graders.contract.limits import MAX_PACKED_TRACE_BYTES, MAX_TRACE_BYTES, Limits
from graders.contract.outcome_sentences import MACHINE_BUSY, find_other_version, find_stumble, make_end
from graders.contract.results import Measure, Outcome, RunEnd, Verdict
from graders.judging.benchmark import explain_untimed, make_benchmark_job, read_benchmark
from graders.judging.case_session import CaseBatch, CaseSession, choose_driver
from graders.judging.exits import (
    MachineBusy,
    describe_limit,
    find_time_left,
    join_exits,
    measure,
    outcome_of_exit,
)
from graders.judging.reruns import run_until_it_counts
from graders.judging.secret_seed import draw_seed
from graders.trusted.answers import outcome_of_mistake
from graders.trusted.brevity import weigh_length
from graders.trusted.diagnosis import weigh_diagnosis
from graders.trusted.exercise import Exercise, load_exercise
from graders.trusted.faults import CheckStumbled, GraderFault, OtherVersion
from graders.trusted.finding_sentences import find_code, find_mistake, find_outcome
from graders.trusted.reference import ReferenceServer
from graders.trusted.text import TextStream, read_text
from graders.trusted.trace_reader import MAX_DOCUMENT_BYTES, read_report

LOG = logging.getLogger(__name__)
CANCEL_POLL_SECONDS = 0.1


def run_job(
    job: GradeJob | RunJob,
    box: Box,
    exercises_root: Path,
    reference: ReferenceServer,
    on_event: OnEvent,
    cancelled: threading.Event,
) -> Verdict | RunEnd:
    """Judge a submission or run a cell in `box`. `on_event` gets output and case results at once, in this thread."""

    def run(take: OnEvent) -> Verdict | RunEnd:
        if isinstance(job, RunJob):
            return run_cell(job, box, take, cancelled)
        exercise = load_exercise(exercises_root, job.exercise, job.exercise_digest)
        return grade(job, box, exercise, reference, take, cancelled)

    finding = None
    try:
        return run_until_it_counts(run, on_event, cancelled)
    except MachineBusy as busy:
        finding = MACHINE_BUSY
        LOG.error("grader fault: the machine is too busy: %s", busy)
    except OtherVersion as fault:
        LOG.error("grader fault: %s", fault)
        finding = find_other_version(fault.exercise)
    except CheckStumbled as fault:
        # A submission can cause this at will, so its log line is none of those that raise an alarm.
        LOG.warning("check stumbled: %s", fault)
        finding = find_stumble(fault.mistake)
    except (BoxFault, GraderFault) as fault:
        LOG.error("grader fault: %s", fault)
    except Exception:
        LOG.exception("grader fault: unexpected error in run_job")
    return make_end(job, Outcome.GRADER_FAULT, finding).model_copy(update={"profile": box.profile.value})


def grade(
    job: GradeJob,
    box: Box,
    exercise: Exercise,
    reference: ReferenceServer,
    on_event: OnEvent,
    cancelled: threading.Event,
) -> Verdict:
    """Judge an answer that is no longer than the exercise allows, and time it if that was asked and it is right."""
    if too_long := weigh_length(job.source, exercise.manifest):
        ended = make_end(job, Outcome.WRONG_ANSWER, too_long)
        return ended.model_copy(update={"exercise_digest": exercise.digest, "profile": box.profile.value})
    verdict = judge(job, box, exercise, reference, on_event, cancelled)
    if verdict.outcome not in (Outcome.PASSED, Outcome.OK):
        return verdict
    times, untimed = run_benchmark(job, exercise, box, cancelled)
    return verdict.model_copy(update={"measures": verdict.measures + times, "untimed": untimed})


def judge(
    job: GradeJob,
    box: Box,
    exercise: Exercise,
    reference: ReferenceServer,
    on_event: OnEvent,
    cancelled: threading.Event,
) -> Verdict:
    """Prepare the expected answers, then run the learner's code. Each run has its own seed, which the box never sees.

    A learner's diagnosis is judged only if the code passes, and never by a process that ran the learner's code.
    """
    manifest = exercise.manifest
    with reference.prepare(exercise, draw_seed()) as answers:
        session = CaseSession(job, exercise, answers, on_event)
        exit_ = run_cases(session, box, cancelled)
    outcome, finding = session.conclude(exit_)
    weighed = outcome is Outcome.PASSED and manifest.diagnosis is not None
    if outcome is Outcome.PASSED and (finding := weigh_diagnosis(job.diagnosed, manifest)):
        outcome = Outcome.WRONG_ANSWER
    return Verdict(
        outcome=outcome,
        exercise=job.exercise,
        exercise_digest=exercise.digest,
        finding=finding,
        cases=tuple(session.results),
        cases_total=len(session.asked),
        public_only=job.public_only,
        diagnosis_right=finding is None if weighed else None,
        mistake=next((ruling.mistake for ruling in session.rulings if ruling.outcome is not Outcome.PASSED), None),
        stdout=read_text(exit_.stdout),
        stderr=read_text(exit_.stderr),
        measures=measure(exit_) + session.measure(),
        profile=box.profile.value,
    )


def run_benchmark(
    job: GradeJob, exercise: Exercise, box: Box, cancelled: threading.Event
) -> tuple[tuple[Measure, ...], str]:
    """The times of an answer whose cases passed, if they were asked for, or why there are none."""
    manifest = exercise.manifest
    if not job.benchmark or manifest.benchmark is None:
        return (), ""
    timing = make_benchmark_job(job.source, exercise.benchmark, manifest.benchmark, manifest)
    end = run_cell(timing, box, lambda kind, body: None, cancelled)
    times = read_benchmark(end)
    return times, "" if times else explain_untimed(end)


def run_cases(session: CaseSession, box: Box, cancelled: threading.Event) -> Exit:
    """Ask all cases in one run, except those judged by their peak: each of these gets its own run.

    All these runs share the exercise's limits of time.
    """
    exits: list[Exit] = []
    for batch in session.batches():
        limits = find_time_left(session.exercise.manifest.limits, exits)
        with _running(box, write_request(session, batch, limits, box.has_card), cancelled) as run:
            exits.append(session.ask(batch, run))
        if session.is_over:
            break
    return join_exits(exits)


def write_request(session: CaseSession, batch: CaseBatch, limits: Limits, has_card: bool = False) -> BoxRequest:
    """The request for a batch's run. It contains the learner's file, unless a baseline must be read before that.

    Where the box has no card, as in the course's check, an exercise for a card runs on the processor.
    """
    manifest = session.exercise.manifest
    driver = choose_driver(batch[0][1])
    measured = driver is Driver.PEAK
    content = {"probe": session.exercise.probe} | ({} if measured else {"source": session.source})
    if batch[0][1].untouched:
        content["inputs"] = manifest.inputs.value
    payload, sink = json.dumps(content).encode(), _output_sink(session.on_event)
    card = has_card and manifest.device is not Device.CPU
    return BoxRequest(manifest.flavour, driver, payload, limits, sink, one_core=measured, card=card)


def run_cell(job: RunJob, box: Box, on_event: OnEvent, cancelled: threading.Event) -> RunEnd:
    """Run a free cell: what it prints goes to `on_event`, and at its end it sends one document."""
    engine = "torch" if job.flavour is Flavour.TORCH else "learner"
    caps = {
        "document_bytes": MAX_DOCUMENT_BYTES,
        "max_document_bytes": MAX_TRACE_BYTES,
        "max_packed_bytes": MAX_PACKED_TRACE_BYTES,
    }
    content = {
        "source": job.source,
        "setup": job.setup,
        "want_trace": job.want_trace,
        "engine": engine,
        "caps": caps,
    }
    payload, card = json.dumps(content).encode(), box.has_card and job.device is not Device.CPU
    request = BoxRequest(job.flavour, Driver.CELL, payload, job.limits, _output_sink(on_event), card=card)
    with _running(box, request, cancelled) as run:
        raw = run.receive_at_most(MAX_DOCUMENT_BYTES + 1)
        # Longer than any honest report, so we read no further; a child that goes on writing would wait for us.
        exit_ = run.stop() if len(raw) > MAX_DOCUMENT_BYTES else run.wait()
    return conclude_cell(job, raw, exit_, box)


def conclude_cell(job: RunJob, raw: bytes, exit_: Exit, box: Box) -> RunEnd:
    report = read_report(raw) if exit_.cause in (Cause.EXITED, Cause.STOPPED) else None
    finding = None
    refused = report.trace_refused if report else ""
    if report and report.mistake:
        outcome = outcome_of_mistake(report.mistake, unreadable=report.unreadable)
        limit = describe_limit(outcome, None, job.limits)
        finding = find_mistake(outcome, report.mistake, limit=limit)
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
        trace_json=report.trace.model_dump_json() if report and report.trace else None,
        trace_refused=refused,
        measures=measure(exit_),
        profile=box.profile.value,
    )


@contextmanager
def _running(box: Box, request: BoxRequest, cancelled: threading.Event) -> Iterator[Run]:
    """A run that is stopped when the block ends, or earlier if `cancelled` is set."""
    run = box.start(request)
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
    """Passes what the learner's program prints to `on_event` as text."""
    streams = {"stdout": TextStream(), "stderr": TextStream()}

    def sink(stream: str, piece: bytes) -> None:
        if text := streams[stream].read(piece):
            on_event(EventKind.OUTPUT, Output(stream="stdout" if stream == "stdout" else "stderr", text=text))

    return sink

"""The graders' command line: for authors, operators and tests. Exit status: 0 passed or ok, 1 not, 2 our fault."""

import argparse
import asyncio
import contextlib
import importlib.util
import itertools
import json
import os
import sys
import threading
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path

try:
    from pydantic import ValidationError
except ModuleNotFoundError as missing:
    sys.exit(f"{sys.executable} has no {missing.name}: run `make environment` once, then `. .venv/bin/activate`")

from graders.attacks.attempt import Attempted
from graders.attacks.corpus import Group, Kind, read_attacks
from graders.attacks.judged import Judge
from graders.attacks.report import attack_installation, write_json, write_text
from graders.box.interface import BoxFault, SelfTestReport
from graders.box.self_test import run_self_test
from graders.box.slot import Slot, open_box
from graders.contract.environment import describe_invalid, find_misspelled
from graders.contract.events import EventKind, Output
from graders.contract.jobs import Diagnosed, Flavour, GradeJob, Queue, RunJob
from graders.contract.limits import MAX_SOURCE_BYTES
from graders.contract.model import ExerciseName, Message
from graders.contract.results import CaseResult, Outcome, RunEnd, Verdict
from graders.contract.settings import GraderSettings
from graders.gradescope import write_results
from graders.judging.run_job import run_job
from graders.trusted.exercise import load_exercise
from graders.trusted.faults import ExerciseProblem, GraderFault
from graders.trusted.reference import ReferenceServer
from graders.worker.open_worker import choose_profile
from graders.worker.stream import serve_lines

PASSED, NOT_PASSED, OUR_FAULT = 0, 1, 2
ATTACKS_BETWEEN_WORDS = 20


class Form(StrEnum):
    """The form in which a verdict is printed."""

    TEXT = "text"
    JSON = "json"
    GRADESCOPE = "gradescope"


def main(arguments: list[str] | None = None) -> int:
    options = read_arguments(arguments)
    try:
        if misspelled := find_misspelled(GraderSettings.model_fields):
            raise GraderFault("\n".join(misspelled))
        return obey(options, GraderSettings())
    except (BoxFault, GraderFault, ValidationError, OSError) as error:
        message = describe_fault(error)
        print(f"graders: {message}", file=sys.stderr)
        if getattr(options, "json", False) or getattr(options, "form", None) is Form.JSON:
            print(json.dumps({"outcome": Outcome.GRADER_FAULT.value, "message": message}))
        return OUR_FAULT


def obey(options: argparse.Namespace, settings: GraderSettings) -> int:
    match options.command:
        case "grade":
            return grade(settings, options)
        case "run":
            return run(settings, options)
        case "self-test":
            return self_test(settings, as_json=options.json)
        case "attack":
            return attack(settings, options)
        case "worker":
            return work(settings, Queue(options.queue))
        case "alive":
            return look_alive(settings)
        case _:
            return stream(settings, options.exercises)


def describe_fault(error: Exception) -> str:
    """What went wrong, with the name of the file or of the setting's variable."""
    if isinstance(error, ValidationError):
        return describe_invalid(error)
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {(error.strerror or str(error)).lower()}"
    return str(error)


def read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m graders", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    grading = commands.add_parser("grade", help="judge a file as an answer to an exercise, in the real box")
    grading.add_argument("folder", type=Path, metavar="EXERCISE_DIR")
    grading.add_argument("file", type=Path, metavar="FILE")
    grading.add_argument(
        "--gradescope", dest="form", action="store_const", const=Form.GRADESCOPE, help="Gradescope's results.json"
    )
    grading.add_argument("--category", help="for a bug hunt: the kind of fault, as exercise.toml names it")
    grading.add_argument("--line", type=int, help="for a bug hunt: the guilty line of starter.py")
    grading.add_argument("--public", action="store_true", help="run only the public checks")
    running = commands.add_parser("run", help="run a file as a free cell, in the real box")
    running.add_argument("file", type=Path, metavar="FILE")
    running.add_argument("--trace", action="store_true", help="record its graphs")
    running.add_argument("--flavour", choices=[flavour.value for flavour in Flavour], default=Flavour.TORCH.value)
    testing = commands.add_parser("self-test", help="try to break out of the box, and list what held")
    attacking = commands.add_parser("attack", help="run every recorded attack, and report how each ended")
    attacking.add_argument("--kind", choices=[kind.value for kind in Kind], help="only what comes in this way")
    attacking.add_argument("--group", choices=[group.value for group in Group], help="only what aims at this")
    grading.set_defaults(form=Form.TEXT)
    one_object = "one JSON object on standard output"
    grading.add_argument("--json", dest="form", action="store_const", const=Form.JSON, help=one_object)
    for command in (running, testing, attacking):
        command.add_argument("--json", action="store_true", help=one_object)
    working = commands.add_parser("worker", help="serve a queue until told to stop")
    working.add_argument("--queue", choices=[queue.value for queue in Queue], default=Queue.CPU.value)
    commands.add_parser("alive", help="whether this machine's worker said hello lately, for health checks")
    streaming = commands.add_parser("stream", help="jobs as JSON lines in, results as JSON lines out")
    streaming.add_argument("--exercises", type=Path, default=None, metavar="DIR")
    return parser.parse_args(arguments)


def work(settings: GraderSettings, queue: Queue) -> int:
    # Only the worker's own user may read the files with learners' code.
    os.umask(0o077)
    from graders.worker.main import main as serve_queue  # noqa: PLC0415 - it imports SQLAlchemy: half a second

    return serve_queue(settings, queue)


def look_alive(settings: GraderSettings) -> int:
    from graders.worker.main import was_heard_of  # noqa: PLC0415 - as above

    heard = asyncio.run(was_heard_of(settings))
    print("a worker of this machine serves" if heard else "no worker of this machine was heard of lately")
    return PASSED if heard else NOT_PASSED


def grade(settings: GraderSettings, options: argparse.Namespace) -> int:
    folder = options.folder.resolve()
    exercise = load_exercise(folder.parent, folder.name)
    job = GradeJob(
        exercise=ExerciseName(folder.name),
        source=read_source(options.file),
        diagnosed=Diagnosed(category=options.category, line=options.line),
        public_only=options.public,
    )
    with contextlib.closing(ReferenceServer()) as reference:
        reference.warm(with_torch=exercise.manifest.flavour is Flavour.TORCH)
        with contextlib.closing(open_one_box(settings, (exercise.manifest.flavour,))) as box:
            verdict = run_job(job, box, folder.parent, reference, _ignore_event, threading.Event())
    assert isinstance(verdict, Verdict)
    print(write_verdict(verdict, options.form))
    return status_of(verdict.outcome)


def write_verdict(verdict: Verdict, form: Form) -> str:
    """The verdict in this form; "" if Gradescope itself is to report that grading failed."""
    match form:
        case Form.TEXT:
            return describe_verdict(verdict)
        case Form.JSON:
            return verdict.model_dump_json()
        case Form.GRADESCOPE:
            results = write_results(verdict)
            return json.dumps(results, indent=1) if results else ""


def run(settings: GraderSettings, options: argparse.Namespace) -> int:
    flavour = Flavour(options.flavour)
    job = RunJob(source=read_source(options.file), flavour=flavour, want_trace=options.trace)
    on_event = _ignore_event if options.json else _print_output
    with (
        contextlib.closing(ReferenceServer()) as reference,
        contextlib.closing(open_one_box(settings, (flavour,))) as box,
    ):
        end = run_job(job, box, settings.exercises, reference, on_event, threading.Event())
    assert isinstance(end, RunEnd)
    print(write_run(end) if options.json else describe_run(end))
    return status_of(end.outcome)


def self_test(settings: GraderSettings, *, as_json: bool) -> int:
    with contextlib.closing(open_one_box(settings, tuple(Flavour))) as box:
        report = run_self_test([box])
    print(json.dumps({**asdict(report), "passed": report.passed}) if as_json else describe_self_test(report))
    return PASSED if report.passed else OUR_FAULT


def attack(settings: GraderSettings, options: argparse.Namespace) -> int:
    wanted = [
        one for one in read_attacks() if options.kind in (None, one.kind) and options.group in (None, one.group)
    ]
    if not wanted:
        raise GraderFault(f"no attack is of kind {options.kind} and of group {options.group}; leave out one of them")
    flavours = tuple(Flavour) if importlib.util.find_spec("torch") else (Flavour.PLAIN,)
    done = itertools.count(1)

    def tell(attempted: Attempted) -> None:
        if (number := next(done)) % ATTACKS_BETWEEN_WORDS == 0:
            print(f"graders: {number} of {len(wanted)} attacks", file=sys.stderr)

    with (
        contextlib.closing(ReferenceServer()) as reference,
        contextlib.closing(open_one_box(settings, flavours)) as box,
    ):
        report = attack_installation(Judge(box, reference), wanted, tell)
    print(json.dumps(write_json(report), indent=1) if options.json else write_text(report))
    return PASSED if report.passed else NOT_PASSED


def stream(settings: GraderSettings, exercises: Path | None) -> int:
    writing = threading.Lock()

    def write(line: str) -> None:
        with writing:
            print(line, flush=True)

    serve_lines(settings, exercises or settings.exercises, sys.stdin, write)
    return PASSED


def read_source(file: Path) -> str:
    if file.stat().st_size > MAX_SOURCE_BYTES:
        raise ExerciseProblem(f"{file} has {file.stat().st_size} bytes; at most {MAX_SOURCE_BYTES} are allowed")
    return file.read_text(encoding="utf-8", errors="replace")


def open_one_box(settings: GraderSettings, flavours: tuple[Flavour, ...]) -> Slot:
    return open_box(flavours, profile=choose_profile(settings))


def status_of(outcome: Outcome) -> int:
    if outcome in (Outcome.PASSED, Outcome.OK):
        return PASSED
    return OUR_FAULT if outcome is Outcome.GRADER_FAULT else NOT_PASSED


def describe_verdict(verdict: Verdict) -> str:
    checks = "public checks" if verdict.public_only else "checks"
    lines = [f"{verdict.outcome.value}: {verdict.cases_passed} of {verdict.cases_total} {checks} passed"]
    for case in verdict.cases:
        lines += describe_case(case)
    if verdict.finding:
        lines += ["", verdict.finding.short, *([verdict.finding.long] if verdict.finding.long else [])]
    if verdict.mistake and verdict.mistake.traceback:
        lines += ["", verdict.mistake.traceback.rstrip()]
    return "\n".join(lines)


def describe_case(case: CaseResult) -> list[str]:
    head = f"  {'ok   ' if case.passed else 'WRONG'} {case.name}: {case.idea}"
    if case.passed or not case.public:
        return [head]
    values = [("input", case.input), ("yours", case.got), ("expected", case.expected)]
    return [head, *(f"        {name}: {text}".replace("\n", "\n          ") for name, text in values if text)]


def write_run(end: RunEnd) -> str:
    """JSON, with the trace as an object in it."""
    document = end.model_dump(mode="json", exclude={"trace_json"})
    return json.dumps({**document, "trace": json.loads(end.trace_json) if end.trace_json else None})


def describe_run(end: RunEnd) -> str:
    lines = [f"[{end.outcome.value}]"]
    if end.finding:
        lines.append(end.finding.short)
    if end.mistake:
        lines.append(end.mistake.traceback.rstrip())
    if end.trace:
        lines.append(f"graph: {len(end.trace.nodes.name)} nodes, {len(end.trace.events.kind)} steps on the tape")
    return "\n".join(lines + ([f"graph: {end.trace_refused}"] if end.trace_refused else []))


def describe_self_test(report: SelfTestReport) -> str:
    lines = [
        f"  {'held' if boundary.held else 'NOT HELD'}  {boundary.name}: {boundary.proof}"
        for boundary in report.boundaries
    ]
    held = sum(boundary.held for boundary in report.boundaries)
    return "\n".join(
        [f"profile {report.profile.value}", *lines, f"{held} of {len(lines)} boundaries held, {report.seconds:.1f} s"]
    )


def _ignore_event(kind: EventKind, body: Message) -> None:
    """Ignored, because the result contains all output and cases."""


def _print_output(kind: EventKind, body: Message) -> None:
    if isinstance(body, Output):
        print(body.text, end="", file=sys.stdout if body.stream == "stdout" else sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

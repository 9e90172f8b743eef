"""The self-test: every attempt in a real box of every flavour, with controls outside it. What is unproven fails."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from graders.box import state
from graders.box.attempts import HELD, OPEN_FILES, OPEN_FOLDERS
from graders.box.interface import Boundary, BoxClosed, BoxFault, BoxRequest, SelfTestReport
from graders.box.interpreter import clean_environment
from graders.box.jail import seccomp
from graders.box.run import BoxRun
from graders.box.slot import Slot
from graders.box.state import Confinement, Namespaces
from graders.box.trials import (
    LIMITS,
    Ending,
    expect,
    failed_with,
    make_request,
    printed,
    read_ending,
    try_program,
    try_resources,
)
from graders.contract.jobs import Flavour

ATTEMPTS_FILE: Final = Path(__file__).with_name("attempts.py")
CONTROL_SECONDS: Final = 20.0
MARK: Final = """
import builtins, tempfile
builtins.MARK = 1
try:
    open(tempfile.gettempdir() + "/mark", "w").close()
except OSError:
    pass
"""
FIND_MARK: Final = """
import builtins, os
assert not hasattr(builtins, "MARK"), "a patched module survived"
assert not os.path.exists("/tmp/mark"), "a file survived"
print("clean")
"""
READ_TORCH: Final = """
import os, sys, numpy
sys.path.append(os.path.dirname(os.path.dirname(numpy.__file__)))
try:
    import torch
except (ImportError, PermissionError):
    print("out of reach")
"""

SLEEP: Final = "import time; time.sleep(99)"
DEATH_SECONDS: Final = 2.0
DRAW: Final = """
import random, sys
import numpy
print(random.random(), numpy.random.rand(), "torch" in sys.modules and sys.modules["torch"].rand(1).item())
"""
Controls = dict[str, dict[str, str]]
"""Name of an attempt -> its `state` outside the box, and the `words` that describe it."""


def run_self_test(boxes: Sequence[Slot]) -> SelfTestReport:
    """Try to break out of these slots in every way we know. Raises nothing: a test that cannot run has failed.

    The first is asked everything, in every flavour. Its neighbours are forks of the same mothers, but have made their
    users, namespaces and roots themselves: each is asked whatever one process survives, beside the others.
    """
    started = time.monotonic()
    controls = _run_controls()
    with ThreadPoolExecutor(len(boxes)) as threads:
        proving = [threads.submit(_try_everything, boxes[0], controls)]
        proving += [threads.submit(_try_slot, box, number, controls) for number, box in enumerate(boxes[1:], 2)]
    boundaries = [boundary for one in proving for boundary in one.result()]
    for number, (box, neighbour) in enumerate(pairwise(boxes), 2):
        boundaries += [_look_for_trace(f"for slot {number}", box, neighbour, flavour) for flavour in box.flavours]
    boundaries += _judge_users(boxes)
    return SelfTestReport(boxes[0].profile, tuple(boundaries), time.monotonic() - started)


def _try_everything(box: Slot, controls: Controls) -> list[Boundary]:
    boundaries = []
    for flavour in box.flavours:
        boundaries += [*_try_calls(box, flavour, controls), *try_resources(box, flavour)]
    return [*boundaries, *_try_traces(box)]


@dataclass(frozen=True)
class Tried:
    """All attempts that a process survives, made by one child, which was looked at while it waited in the middle."""

    ending: Ending
    gaps: dict[str, list[str]]
    """What was looked at -> what is not as the profile promises."""

    @property
    def results(self) -> Controls:
        return dict(_read_lines(self.ending.printed))


def _try_calls(box: Slot, flavour: Flavour, controls: Controls) -> Iterator[Boundary]:
    """The attempts, compared with the same attempts outside, and the state of the process that made them."""
    tried = _make_attempts(box, flavour)
    if isinstance(tried, BoxFault):
        yield Boundary(f"attempts inside the box ({flavour})", False, str(tried))
        return
    results, ending = tried.results, tried.ending
    no_word = {"state": "broken", "words": f"no word from it; {ending.mistake or ending.exit.cause}"}
    names = controls.keys() or results.keys()
    for name in names:
        result = results.get(name, no_word)
        control = _describe_control(controls.get(name))
        yield Boundary(f"{name} ({flavour})", result["state"] == "refused", result["words"], control)
    all_made = bool(names) and names == results.keys()
    yield Boundary(f"every attempt was made ({flavour})", all_made, f"{len(results)} of {len(names)}")
    for name, complaints in tried.gaps.items():
        proof = "; ".join(complaints) or "as promised"
        yield Boundary(f"{name}, as the kernel says ({flavour})", not complaints, proof, "none: it is a fact")


def _make_attempts(box: Slot, flavour: Flavour) -> Tried | BoxFault:
    with open_to_all() as folder:
        return _make_attempts_upon(folder, box, flavour)


def _make_attempts_upon(folder: str, box: Slot, flavour: Flavour) -> Tried | BoxFault:
    allowed = sorted({*seccomp.PLAIN.values(), *seccomp.RULED.values()})
    known = f"ALLOWED, OPEN = {allowed}, {folder!r}"
    program = f"{ATTEMPTS_FILE.read_text()}\n{known}\nreport_inside()\nhold()\n"
    request = make_request(flavour, program, LIMITS)
    try:
        namespaces = state.await_spare(box.find_spare(flavour))
        run = box.start(request)
        gaps = _look_at(run, box, request, namespaces)
        return Tried(read_ending(run), gaps)
    except BoxFault as fault:
        return fault


def _look_at(run: BoxRun, box: Slot, request: BoxRequest, namespaces: Namespaces) -> dict[str, list[str]]:
    """While it waits for a word."""
    order, quota = box.find_order(request, run.groups), box.find_quota(request.limits)
    zygote = box.find_zygote(request.flavour)
    confinement = Confinement(
        box.profile, request.flavour, box.uid, box.gid, zygote, order, quota, run.groups, box.card, namespaces
    )
    try:
        run.receive(len(HELD))
        gaps = state.find_gaps(run.process_id, confinement)
        run.send(b".")
    except BoxClosed as error:
        return {"state": [f"the process did not wait to be looked at: {error}"]}
    return gaps


def _try_slot(box: Slot, number: int, controls: Controls) -> list[Boundary]:
    """All attempts again in another slot, reported as two boundaries per flavour."""
    boundaries = []
    for flavour in box.flavours:
        tried = _make_attempts(box, flavour)
        boundaries.append(_judge_all(f"every attempt in slot {number} ({flavour})", tried, controls))
        boundaries.append(_judge_state(f"the state of slot {number}, as the kernel says ({flavour})", tried))
    return boundaries


def _judge_all(name: str, tried: Tried | BoxFault, controls: Controls) -> Boundary:
    if isinstance(tried, BoxFault):
        return Boundary(name, False, f"could not be tried: {tried}")
    refused = {attempt for attempt, result in tried.results.items() if result["state"] == "refused"}
    others = controls.keys() - refused
    proof = f"{len(refused)} refused" + (f", but not: {', '.join(sorted(others))}" if others else "")
    return Boundary(name, bool(controls) and not others, proof, "those of slot 1")


def _judge_state(name: str, tried: Tried | BoxFault) -> Boundary:
    if isinstance(tried, BoxFault):
        return Boundary(name, False, f"could not be looked at: {tried}")
    complaints = [complaint for each in tried.gaps.values() for complaint in each]
    return Boundary(name, not complaints, "; ".join(complaints) or "as promised", "none: it is a fact")


def _judge_users(boxes: Sequence[Slot]) -> Iterator[Boundary]:
    """Only root can give each slot its own user."""
    if os.geteuid() == 0:
        uids = sorted(box.uid for box in boxes)
        yield Boundary("every slot has a user of its own", len(set(uids)) == len(uids), f"users {uids}")


def _describe_control(control: dict[str, str] | None) -> str:
    match control:
        case None:
            return "the control did not run"
        case {"state": "succeeded"}:
            return "succeeds outside the box"
        case {"state": "omitted", "words": words}:
            return f"none: {words}"
        case {"state": "refused", "words": words}:
            return f"refused outside too: {words}"
        case _:
            return f"outside, the kernel answers {control['words']}"


def _run_controls() -> Controls:
    with open_to_all() as folder:
        return _run_controls_upon(folder)


@contextlib.contextmanager
def open_to_all() -> Iterator[str]:
    """A folder that only the box's own layers close: its permissions let every user read and change all of it."""
    with tempfile.TemporaryDirectory(prefix="unwind-open-") as name:
        folder = Path(name)
        for file in OPEN_FILES:
            (folder / file).write_text("open")
        for inner in OPEN_FOLDERS:
            (folder / inner).mkdir()
        for path in (folder, *folder.iterdir()):
            path.chmod(0o777 if path.is_dir() else 0o666)
        yield name


def _run_controls_upon(folder: str) -> Controls:
    text = f"{ATTEMPTS_FILE.read_text()}\nOPEN = {folder!r}"
    program = f"import sys; sys.path.insert(0, '')\n{text}\nreport_outside()\n"
    environment = clean_environment() | {"CONTROL": "a variable that the box must not show"}
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-B", "-"],
            input=program,
            env=environment,
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            timeout=CONTROL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    return dict(_read_lines(done.stdout))


def _read_lines(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    for line in text.splitlines():
        try:
            fields = json.loads(line)
        except ValueError:
            continue
        yield fields["name"], fields


def _try_traces(box: Slot) -> Iterator[Boundary]:
    """Whether one run can leave something for the next, and whether a plain run can reach torch."""
    for flavour in box.flavours:
        yield _look_for_trace("for the next run", box, box, flavour)
        yield _draw_twice(box, flavour)
        yield _kill_zygote(box, flavour)
    if Flavour.PLAIN in box.flavours:
        absent, out_of_reach = failed_with("ModuleNotFoundError"), printed("out of reach")
        yield expect(box, "import torch where there is none", "import torch", LIMITS, absent, Flavour.PLAIN)
        yield expect(box, "read torch beside numpy", READ_TORCH, LIMITS, out_of_reach, Flavour.PLAIN)


def _draw_twice(box: Slot, flavour: Flavour) -> Boundary:
    """Without new seeds, all runs of a zygote would draw the same numbers."""
    name = f"draw the same numbers as the run before ({flavour})"
    first, second = (try_program(box, flavour, DRAW, LIMITS) for _ in range(2))
    if isinstance(first, BoxFault) or isinstance(second, BoxFault) or not first.printed:
        return Boundary(name, False, f"could not be tried: {first}, {second}")
    pairs = zip(first.printed.split(), second.printed.split(), strict=False)
    same = [one for one, other in pairs if one == other != "False"]
    return Boundary(name, not same, f"the same: {', '.join(same)}" if same else "all differ")


def _kill_zygote(box: Slot, flavour: Flavour) -> Boundary:
    """A child asks to be killed when its zygote dies; only that death shows whether it did."""
    name = f"outlive the zygote ({flavour})"
    try:
        run = box.start(make_request(flavour, SLEEP, LIMITS))
        handle = os.pidfd_open(run.process_id)
        try:
            os.kill(box.find_zygote(flavour), signal.SIGKILL)
            died, _, _ = select.select([handle], [], [], DEATH_SECONDS)
        finally:
            os.close(handle)
            with contextlib.suppress(BoxFault):
                run.stop()
        box.replace_zygote(flavour)
    except BoxFault as fault:
        return Boundary(name, False, f"could not be tried: {fault}")
    return Boundary(name, bool(died), "it died with the zygote" if died else "it lived on", "none: it is a fact")


def _look_for_trace(whom: str, left_in: Slot, looked_in: Slot, flavour: Flavour) -> Boundary:
    name = f"leave a trace {whom}"
    leaving = try_program(left_in, flavour, MARK, LIMITS)
    if isinstance(leaving, BoxFault) or leaving.mistake:
        return Boundary(f"{name} ({flavour})", False, f"no trace could be left: {leaving}")
    return expect(looked_in, name, FIND_MARK, LIMITS, printed("clean"), flavour)

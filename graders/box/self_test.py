"""The self-test: every attempt in a real box of every flavour, with controls outside it. What is unproven fails."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from graders.box.interface import Boundary, BoxFault, BoxRequest, Cause, Driver, Exit, Profile, SelfTestReport
from graders.box.interpreter import clean_environment
from graders.box.slot import Slot
from graders.contract.jobs import Flavour
from graders.contract.limits import Limits

ATTEMPTS_FILE: Final = Path(__file__).with_name("attempts.py")
DOCUMENT_BYTES: Final = 256 * 1024
CONTROL_SECONDS: Final = 20.0
MIB: Final = 1 << 20
LIMITS: Final = Limits(cpu_seconds=5, wall_seconds=10, memory_mib=256, output_kib=64, disk_mib=8, threads=8)

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
START_THREADS: Final = """
import threading, time
count = 0
try:
    for count in range(1, 200):
        threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
except RuntimeError:
    print("stopped at", count)
"""
READ_TORCH: Final = """
import os, sys, numpy
sys.path.append(os.path.dirname(os.path.dirname(numpy.__file__)))
try:
    import torch
except (ImportError, PermissionError):
    print("out of reach")
"""
FILL_SCRATCH: Final = """
files = []
try:
    for at in range(64):
        files.append(open(f"/tmp/{at}", "wb"))
        files[-1].write(bytes(1 << 20))
        files[-1].flush()
except OSError as error:
    print("refused", error.errno)
"""
TOUCH_STACK: Final = """
import ctypes, time
libc = ctypes.CDLL(None)
libc.pthread_self.restype = ctypes.c_ulong
attributes, base, size = ctypes.create_string_buffer(128), ctypes.c_void_p(), ctypes.c_size_t()
libc.pthread_getattr_np(ctypes.c_ulong(libc.pthread_self()), attributes)
libc.pthread_attr_getstack(attributes, ctypes.byref(base), ctypes.byref(size))
ctypes.memset(base.value + (1 << 20), 1, 200 << 20)
time.sleep(1)
"""
CALL_32_BIT: Final = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
page.write(bytes.fromhex("b814000000cd80c3"))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
"""
SIGSYS: Final = 31

Controls = dict[str, dict[str, str]]
"""Name of an attempt -> its `state` outside the box, and the `words` that describe it."""


@dataclass(frozen=True)
class Ending:
    """A run that the self-test made: how it ended, and what the driver reported."""

    exit: Exit
    document: dict[str, Any]

    @property
    def printed(self) -> str:
        return self.exit.stdout.decode(errors="replace").strip()

    @property
    def mistake(self) -> str:
        mistake = self.document.get("mistake") or {}
        return f"{mistake.get('type', '')}: {mistake.get('message', '')}".strip(": ")


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
    return SelfTestReport(boxes[0].profile, tuple(boundaries), time.monotonic() - started)


def _try_everything(box: Slot, controls: Controls) -> list[Boundary]:
    boundaries = []
    for flavour in box.flavours:
        boundaries += [*_try_calls(box, flavour, controls), *_try_resources(box, flavour)]
    return [*boundaries, *_try_traces(box)]


def _try_calls(box: Slot, flavour: Flavour, controls: Controls) -> Iterator[Boundary]:
    """All attempts that a process survives, made in one fork and compared with the same attempts outside."""
    ending = _make_attempts(box, flavour)
    if isinstance(ending, BoxFault):
        yield Boundary(f"attempts inside the box ({flavour})", False, str(ending))
        return
    results = dict(_read_lines(ending.printed))
    no_word = {"state": "broken", "words": f"no word from it; {ending.mistake or ending.exit.cause}"}
    names = controls.keys() or results.keys()
    for name in names:
        result = results.get(name, no_word)
        control = _describe_control(controls.get(name))
        yield Boundary(f"{name} ({flavour})", result["state"] == "refused", result["words"], control)
    all_made = bool(names) and names == results.keys()
    yield Boundary(f"every attempt was made ({flavour})", all_made, f"{len(results)} of {len(names)}")


def _make_attempts(box: Slot, flavour: Flavour) -> Ending | BoxFault:
    return _attempt(box, flavour, ATTEMPTS_FILE.read_text() + "\nreport_inside()\n", LIMITS)


def _try_slot(box: Slot, number: int, controls: Controls) -> list[Boundary]:
    """All attempts again in another slot, reported as one boundary per flavour."""
    return [
        _judge_all(f"every attempt in slot {number} ({flavour})", _make_attempts(box, flavour), controls)
        for flavour in box.flavours
    ]


def _judge_all(name: str, ending: Ending | BoxFault, controls: Controls) -> Boundary:
    if isinstance(ending, BoxFault):
        return Boundary(name, False, f"could not be tried: {ending}")
    refused = {attempt for attempt, result in _read_lines(ending.printed) if result["state"] == "refused"}
    others = controls.keys() - refused
    proof = f"{len(refused)} refused" + (f", but not: {', '.join(sorted(others))}" if others else "")
    return Boundary(name, bool(controls) and not others, proof, "those of slot 1")


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
    program = "import sys; sys.path.insert(0, '')\n" + ATTEMPTS_FILE.read_text() + "\nreport_outside()\n"
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


def _try_resources(box: Slot, flavour: Flavour) -> Iterator[Boundary]:
    def expect(name: str, source: str, limits: Limits, fits: Expectation) -> Boundary:
        return _expect(box, name, source, limits, fits, flavour)

    small = LIMITS.model_copy(update={"memory_mib": 64})
    yield expect("endless loop", "while True: pass", _of(cpu_seconds=0.1), _ended(Cause.CPU_LIMIT))
    yield expect("endless sleep", "import time; time.sleep(99)", _of(wall_seconds=0.1), _ended(Cause.WALL_LIMIT))
    yield expect("flood of output", "while True: print('x' * 999)", LIMITS, _ended(Cause.OUTPUT_LIMIT))
    yield expect("private memory beyond the limit", "x = bytearray(200 << 20)", small, _mistake("MemoryError"))
    # The cell's big stack is mapped already, so no limit of address space counts what is touched of it.
    yield expect("memory that is mapped already", TOUCH_STACK, small, _ended(Cause.MEMORY_LIMIT))
    yield expect("threads beyond the limit", START_THREADS, LIMITS, _printed("stopped at"))
    yield expect("32-bit system call", CALL_32_BIT, LIMITS, _died(SIGSYS))
    x32 = "import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 39)"
    yield expect("x32 system call", x32, LIMITS, _died(SIGSYS))
    if box.profile is not Profile.P3:
        yield expect("files beyond the scratch limit", FILL_SCRATCH, LIMITS, _printed("refused 28"))
    else:
        yield expect("any file at all", FILL_SCRATCH, LIMITS, _printed("refused 13"))
    if box.memory_cgroup:
        # The pages of files in /tmp are not part of any process's data, so only the cgroup counts them.
        narrow = LIMITS.model_copy(update={"memory_mib": 32, "disk_mib": 64})
        yield expect("files and memory together", FILL_SCRATCH, narrow, _ended(Cause.MEMORY_LIMIT))
        yield expect("the memory meter sees 64 MiB", "x = bytearray(b'1') * (64 << 20)", LIMITS, _peaked_near(64))


def _try_traces(box: Slot) -> Iterator[Boundary]:
    """Whether one run can leave something for the next, and whether a plain run can reach torch."""
    for flavour in box.flavours:
        yield _look_for_trace("for the next run", box, box, flavour)
    if Flavour.PLAIN in box.flavours:
        absent, out_of_reach = _mistake("ModuleNotFoundError"), _printed("out of reach")
        yield _expect(box, "import torch where there is none", "import torch", LIMITS, absent, Flavour.PLAIN)
        yield _expect(box, "read torch beside numpy", READ_TORCH, LIMITS, out_of_reach, Flavour.PLAIN)


def _look_for_trace(whom: str, left_in: Slot, looked_in: Slot, flavour: Flavour) -> Boundary:
    name = f"leave a trace {whom}"
    leaving = _attempt(left_in, flavour, MARK, LIMITS)
    if isinstance(leaving, BoxFault) or leaving.mistake:
        return Boundary(f"{name} ({flavour})", False, f"no trace could be left: {leaving}")
    return _expect(looked_in, name, FIND_MARK, LIMITS, _printed("clean"), flavour)


Expectation = Callable[[Ending], bool]


def _expect(box: Slot, name: str, source: str, limits: Limits, fits: Expectation, flavour: Flavour) -> Boundary:
    name = f"{name} ({flavour})"
    ending = _attempt(box, flavour, source, limits)
    if isinstance(ending, BoxFault):
        return Boundary(name, False, f"could not be tried: {ending}")
    told = [str(ending.exit.cause), ending.mistake, ending.printed[:80]]
    return Boundary(name, fits(ending), "; ".join(word for word in told if word), "none: the limit is the box's own")


def _of(**changes: float) -> Limits:
    return LIMITS.model_copy(update=changes)


def _ended(cause: Cause) -> Expectation:
    return lambda ending: ending.exit.cause is cause


def _mistake(kind: str) -> Expectation:
    return lambda ending: ending.mistake.startswith(kind)


def _printed(text: str) -> Expectation:
    return lambda ending: ending.printed.startswith(text)


def _died(number: int) -> Expectation:
    return lambda ending: ending.exit.cause is Cause.SIGNALLED and ending.exit.signal == number


def _peaked_near(mib: int) -> Expectation:
    return lambda ending: mib * MIB <= (ending.exit.peak_memory_bytes or 0) <= (mib + 24) * MIB


def _attempt(box: Slot, flavour: Flavour, source: str, limits: Limits) -> Ending | BoxFault:
    try:
        return _run(box, flavour, source, limits)
    except BoxFault as fault:
        return fault


def _run(box: Slot, flavour: Flavour, source: str, limits: Limits) -> Ending:
    caps = {"document_bytes": DOCUMENT_BYTES}
    payload = json.dumps({"source": source, "setup": "", "want_trace": False, "caps": caps}).encode()
    run = box.start(BoxRequest(flavour, Driver.CELL, payload, limits))
    try:
        document = run.receive_at_most(DOCUMENT_BYTES)
        ending = run.wait()
    finally:
        run.stop()
    try:
        fields = json.loads(document)
    except ValueError:
        fields = {}
    return Ending(ending, fields if isinstance(fields, dict) else {})

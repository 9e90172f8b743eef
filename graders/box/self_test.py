"""The self-test: some sixty real attempts through the real path, with controls outside. Fails closed."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from graders.box.errand import Boundary, BoxFault, Cause, Errand, Exit, Profile, SelfTestReport
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
CALL_32_BIT: Final = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
page.write(bytes.fromhex("b814000000cd80c3"))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
"""
SIGSYS: Final = 31


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


def run_self_test(box: Slot) -> SelfTestReport:
    """Try to break out of this box in every way we know. Raises nothing: a test that cannot run has failed."""
    started = time.monotonic()
    boundaries = [*_try_calls(box), *_try_resources(box), *_try_traces(box)]
    return SelfTestReport(box.profile, tuple(boundaries), time.monotonic() - started)


def _try_calls(box: Slot) -> Iterator[Boundary]:
    """All attempts that a process survives, in one fork, beside the same attempts outside."""
    controls = _run_controls()
    flavour = box.flavours[0]
    try:
        ending = _run(box, flavour, ATTEMPTS_FILE.read_text() + "\nreport_inside()\n", LIMITS)
    except BoxFault as fault:
        yield Boundary("attempts inside the box", False, str(fault))
        return
    results = dict(_read_lines(ending.printed))
    names = controls.keys() or results.keys()
    for name in names:
        result = results.get(
            name, {"state": "broken", "words": f"no word from it; {ending.mistake or ending.exit.cause}"}
        )
        yield Boundary(name, result["state"] == "refused", result["words"], _describe_control(controls.get(name)))
    yield Boundary(
        "every attempt was made", bool(names) and names == results.keys(), f"{len(results)} of {len(names)}"
    )


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


def _run_controls() -> dict[str, dict[str, str]]:
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


def _try_resources(box: Slot) -> Iterator[Boundary]:
    small = LIMITS.model_copy(update={"memory_mib": 64})
    yield _expect(box, "endless loop", "while True: pass", _of(cpu_seconds=0.3), _ended(Cause.CPU_LIMIT))
    yield _expect(
        box, "endless sleep", "import time; time.sleep(99)", _of(wall_seconds=0.3), _ended(Cause.WALL_LIMIT)
    )
    yield _expect(box, "flood of output", "while True: print('x' * 999)", LIMITS, _ended(Cause.OUTPUT_LIMIT))
    yield _expect(box, "private memory beyond the limit", "x = bytearray(200 << 20)", small, _mistake("MemoryError"))
    yield _expect(box, "threads beyond the limit", START_THREADS, LIMITS, _printed("stopped at"))
    yield _expect(box, "32-bit system call", CALL_32_BIT, LIMITS, _died(SIGSYS))
    x32 = "import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 39)"
    yield _expect(box, "x32 system call", x32, LIMITS, _died(SIGSYS))
    if box.profile is not Profile.P3:
        yield _expect(box, "files beyond the scratch limit", FILL_SCRATCH, LIMITS, _printed("refused 28"))
    else:
        yield _expect(box, "any file at all", FILL_SCRATCH, LIMITS, _printed("refused 13"))
    if box.memory_cgroup:
        yield from _try_memory_cgroup(box)


def _try_memory_cgroup(box: Slot) -> Iterator[Boundary]:
    # Pages of /tmp are no process's data: only the cgroup sees them.
    narrow = LIMITS.model_copy(update={"memory_mib": 32, "disk_mib": 64})
    yield _expect(box, "files and memory together", FILL_SCRATCH, narrow, _ended(Cause.MEMORY_LIMIT))
    yield _expect(box, "the memory meter sees 64 MiB", "x = bytearray(b'1') * (64 << 20)", LIMITS, _peaked_near(64))


def _try_traces(box: Slot) -> Iterator[Boundary]:
    """What one learner leaves for the next, and what a zygote without torch has of it."""
    for flavour in box.flavours:
        _attempt(box, flavour, MARK, LIMITS)
        yield _expect(box, f"leave a trace ({flavour})", FIND_MARK, LIMITS, _printed("clean"), flavour)
    if Flavour.PLAIN in box.flavours:
        absent = _mistake("ModuleNotFoundError")
        yield _expect(box, "import torch where there is none", "import torch", LIMITS, absent, Flavour.PLAIN)
        yield _expect(box, "read torch beside numpy", READ_TORCH, LIMITS, _printed("out of reach"), Flavour.PLAIN)


Expectation = Callable[[Ending], bool]


def _expect(
    box: Slot, name: str, source: str, limits: Limits, fits: Expectation, flavour: Flavour | None = None
) -> Boundary:
    ending = _attempt(box, flavour or box.flavours[0], source, limits)
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
    run = box.start(Errand(flavour, "cell", payload, limits))
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

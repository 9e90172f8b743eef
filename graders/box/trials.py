"""Programs that the self-test runs through the real path, each against one limit, and how their ends are judged."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from graders.box.interface import Boundary, BoxFault, BoxRequest, Cause, Driver, Exit, Profile
from graders.box.run import BoxRun
from graders.box.slot import Slot
from graders.contract.jobs import Flavour
from graders.contract.limits import Limits

DOCUMENT_BYTES: Final = 256 * 1024
MIB: Final = 1 << 20
LIMITS: Final = Limits(cpu_seconds=5, wall_seconds=10, memory_mib=256, output_kib=64, disk_mib=8, threads=8)

START_THREADS: Final = """
import threading, time
count = 0
try:
    for count in range(1, 200):
        threading.Thread(target=time.sleep, args=(9,), daemon=True).start()
except RuntimeError:
    print("stopped at", count)
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


def try_resources(box: Slot, flavour: Flavour) -> Iterator[Boundary]:
    def expect_end(name: str, source: str, limits: Limits, fits: Expectation) -> Boundary:
        return expect(box, name, source, limits, fits, flavour)

    small = LIMITS.model_copy(update={"memory_mib": 64})
    yield expect_end("endless loop", "while True: pass", changed(cpu_seconds=0.1), stopped_in_time)
    yield expect_end(
        "endless sleep", "import time; time.sleep(3)", changed(wall_seconds=0.1), ended(Cause.WALL_LIMIT)
    )
    yield expect_end("flood of output", "while True: print('x' * 999)", LIMITS, ended(Cause.OUTPUT_LIMIT))
    yield expect_end("private memory beyond the limit", "x = bytearray(200 << 20)", small, failed_with("MemoryError"))
    # The cell's big stack is mapped already, so no limit of address space counts what is touched of it.
    yield expect_end("memory that is mapped already", TOUCH_STACK, small, ended(Cause.MEMORY_LIMIT))
    yield expect_end("threads beyond the limit", START_THREADS, LIMITS, printed("stopped at"))
    yield expect_end("32-bit system call", CALL_32_BIT, LIMITS, died(SIGSYS))
    x32 = "import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 39)"
    yield expect_end("x32 system call", x32, LIMITS, died(SIGSYS))
    if box.profile is not Profile.P3:
        yield expect_end("files beyond the scratch limit", FILL_SCRATCH, LIMITS, printed("refused 28"))
    else:
        yield expect_end("any file at all", FILL_SCRATCH, LIMITS, printed("refused 13"))
    if box.memory_cgroup and box.profile is not Profile.P3:
        # The pages of files in /tmp are not part of any process's data, so only the cgroup counts them.
        narrow = LIMITS.model_copy(update={"memory_mib": 32, "disk_mib": 64})
        yield expect_end("files and memory together", FILL_SCRATCH, narrow, ended(Cause.MEMORY_LIMIT))
    if box.memory_cgroup:
        yield expect_end("the memory meter sees 64 MiB", "x = bytearray(b'1') * (64 << 20)", LIMITS, peaked_near(64))


Expectation = Callable[[Ending], bool]


def expect(box: Slot, name: str, source: str, limits: Limits, fits: Expectation, flavour: Flavour) -> Boundary:
    name = f"{name} ({flavour})"
    ending = try_program(box, flavour, source, limits)
    if isinstance(ending, BoxFault):
        return Boundary(name, False, f"could not be tried: {ending}")
    told = [str(ending.exit.cause), ending.mistake, ending.printed[:80]]
    return Boundary(name, fits(ending), "; ".join(word for word in told if word), "none: the limit is the box's own")


def changed(**changes: float) -> Limits:
    return LIMITS.model_copy(update=changes)


def ended(cause: Cause) -> Expectation:
    return lambda ending: ending.exit.cause is cause


def stopped_in_time(ending: Ending) -> bool:
    """By the launcher, which counts exactly: the kernel's own limit strikes at two seconds.

    A launcher that waits for a processor on a crowded host counts late, so the bound is near the kernel's.
    """
    return ending.exit.cause is Cause.CPU_LIMIT and ending.exit.cpu_seconds < 1.8


def failed_with(kind: str) -> Expectation:
    return lambda ending: ending.mistake.startswith(kind)


def printed(text: str) -> Expectation:
    return lambda ending: ending.printed.startswith(text)


def died(number: int) -> Expectation:
    return lambda ending: ending.exit.cause is Cause.SIGNALLED and ending.exit.signal == number


def peaked_near(mib: int) -> Expectation:
    return lambda ending: mib * MIB <= (ending.exit.peak_memory_bytes or 0) <= (mib + 24) * MIB


def try_program(box: Slot, flavour: Flavour, source: str, limits: Limits) -> Ending | BoxFault:
    try:
        return read_ending(box.start(make_request(flavour, source, limits)))
    except BoxFault as fault:
        return fault


def make_request(flavour: Flavour, source: str, limits: Limits) -> BoxRequest:
    caps = {"document_bytes": DOCUMENT_BYTES}
    payload = json.dumps({"source": source, "setup": "", "want_trace": False, "caps": caps}).encode()
    return BoxRequest(flavour, Driver.CELL, payload, limits)


def read_ending(run: BoxRun) -> Ending:
    """Let it end by itself."""
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

"""The first of our code in a child: settles the interpreter, reads the payload, hands it to the driver."""

import ctypes
import importlib
import io
import os
import random
import site
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType

LIBC = ctypes.CDLL(None)

STANDARD_MODULES = (
    "abc", "array", "ast", "base64", "bisect", "cmath", "collections.abc", "contextlib", "copy", "csv",
    "dataclasses", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "inspect", "io",
    "itertools", "json", "linecache", "math", "numbers", "operator", "pickle", "pprint", "queue", "random",
    "re", "sqlite3", "ssl", "statistics", "string", "struct", "tempfile", "textwrap", "threading", "time",
    "traceback", "types", "typing", "unittest", "uuid", "warnings", "weakref", "zlib",
)  # fmt: skip
NUMPY_MODULES = ("numpy", "numpy.random", "numpy.linalg")
TORCH_MODULES = ("torch", "torch._dynamo", "torch.utils.checkpoint", "torch.func")
DRIVERS = ("answers", "host", "peak", "machine", "cell")

LENGTH_BYTES = 8
MAX_PAYLOAD_BYTES = 64 << 20
MMAP_THRESHOLD_BYTES = 64 << 10

_drivers: dict[str, ModuleType] = {}


def preload(flavour: str) -> None:
    """Import, before the fork, what a learner would otherwise wait for. Runs while the host's files are visible."""
    # Without site, which would have read the host's site-packages, these builtins are missing.
    site.setquit()
    site.sethelper()
    for name in STANDARD_MODULES:
        _import_if_built(name)
    for name in NUMPY_MODULES:
        importlib.import_module(name)
    _warm_numpy()
    if flavour == "torch":
        for name in TORCH_MODULES:
            importlib.import_module(name)
        _warm_torch()


def _warm_numpy() -> None:
    """Let its linear algebra take its buffer before the fork: no run should be charged for that."""
    ones = sys.modules["numpy"].ones((2, 2))
    ones @ ones


def _warm_torch() -> None:
    """Let torch look at the processor while there is a /proc, by operations that need neither thread nor tape."""
    torch = sys.modules["torch"]
    # One thread from the start: the OpenMP team of a threaded operation would not survive the fork.
    torch.set_num_threads(1)
    with torch.no_grad():
        ones = torch.ones(2, 2)
        (ones @ ones + 1).relu().sum().item()
    _read_libraries_ahead()


def _read_libraries_ahead() -> None:
    """Have every page of torch's libraries in memory: the run that reads one first is charged for it."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        libraries = {line.split(maxsplit=5)[5].strip() for line in maps if "site-packages" in line and ".so" in line}
    for library in libraries:
        descriptor = os.open(library, os.O_RDONLY | os.O_CLOEXEC)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_WILLNEED)
        os.close(descriptor)


def _import_if_built(name: str) -> None:
    try:
        importlib.import_module(name)
    except ImportError:
        return  # a Python built without sqlite or ssl still teaches autograd


def load_drivers(flavour: str, modules: Sequence[str]) -> None:
    """Import the drivers, and the tracer: all of it where torch is. `modules`: whatever lies beside this file."""
    for name in DRIVERS:
        _drivers[name] = importlib.import_module(name)
    importlib.import_module("tracer.learner")
    if flavour == "torch":
        for name in modules:
            if name.startswith("tracer."):
                importlib.import_module(name)


def torch_version() -> str:
    torch = sys.modules.get("torch")
    return str(torch.__version__) if torch is not None else ""


def stack_bytes(driver: str) -> int:
    """The big stack that a driver maps for the learner's thread: address space that no limit should count."""
    return int(getattr(_drivers[driver], "STACK_BYTES", 0))


def settle(compute_threads: int) -> None:
    """After the fork: pin the allocator, draw new seeds, set the thread count."""
    for option, value in ((-3, MMAP_THRESHOLD_BYTES), (-1, MMAP_THRESHOLD_BYTES), (-8, 2)):
        if LIBC.mallopt(ctypes.c_int(option), ctypes.c_int(value)) != 1:
            raise OSError(f"mallopt refused option {option}")
    # The mother's own were opened on a log, and descriptor 0 holds the judge's messages, not a learner's input.
    sys.stdin = io.StringIO()
    random.seed(os.urandom(32))
    torch = sys.modules.get("torch")
    if torch is not None:
        # Not torch.manual_seed: it visits every kind of accelerator, at a millisecond a run.
        torch.default_generator.manual_seed(int.from_bytes(os.urandom(7), "little"))
        torch.set_num_threads(compute_threads)
    sys.modules["numpy.random"].seed(int.from_bytes(os.urandom(4), "little"))


def main(driver: str) -> int:
    """Read descriptor 0's first message and run the driver on it; the process's exit status."""
    try:
        _drivers[driver].run(_read_payload(), 0, 3)
    except BaseException:  # noqa: BLE001 - the driver's own failure, or what a learner made of it: both end here
        traceback.print_exc()
        return 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    return 0


def _read_payload() -> bytes:
    length = int.from_bytes(_read_exactly(LENGTH_BYTES), "little")
    if length > MAX_PAYLOAD_BYTES:
        raise ValueError(f"a payload of {length} bytes; {MAX_PAYLOAD_BYTES} is the most")
    return _read_exactly(length)


def _read_exactly(count: int) -> bytes:
    pieces = bytearray()
    while len(pieces) < count:
        piece = os.read(0, count - len(pieces))
        if not piece:
            raise EOFError("the payload ended early")
        pieces += piece
    return bytes(pieces)

"""Our first code in a child process: sets up the interpreter, reads the payload and passes it to the driver."""

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
TORCH_MODULES = (
    "torch", "torch._dynamo", "torch.utils.checkpoint", "torch.func", "torch._decomp.decompositions_for_jvp",
)  # fmt: skip
DRIVERS = ("answers", "host", "peak", "machine", "cell")

LENGTH_BYTES = 8
MAX_PAYLOAD_BYTES = 64 << 20
MMAP_THRESHOLD_BYTES = 64 << 10

_drivers: dict[str, ModuleType] = {}


def preload(flavour: str) -> None:
    """Imports libraries before the fork, to save learners the wait. Runs while the host's files are visible."""
    # Python starts without site, which would read the host's site-packages and which defines these builtins.
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
    """Makes numpy's linear algebra allocate its buffer before the fork, so that no run is charged for it."""
    ones = sys.modules["numpy"].ones((2, 2))
    ones @ ones


def _warm_torch() -> None:
    """Makes torch detect the processor while /proc is available, with operations that use no thread and no graph."""
    torch = sys.modules["torch"]
    # One thread from the start: the OpenMP team of a threaded operation would not survive the fork.
    torch.set_num_threads(1)
    with torch.no_grad():
        ones = torch.ones(2, 2)
        (ones @ ones + 1).relu().sum().item()
    _read_libraries_ahead()


def _read_libraries_ahead() -> None:
    """Reads every page of torch's libraries into memory: otherwise the first run to use a page is charged for it."""
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
        return  # a Python built without sqlite or ssl is still usable


def load_drivers(flavour: str, modules: Sequence[str]) -> None:
    """Imports the drivers and the tracer, with its torch part if there is torch. `modules`: all next to this file."""
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
    """The size of the big stack that a driver maps for the learner's thread, which no limit should count."""
    return int(getattr(_drivers[driver], "STACK_BYTES", 0))


def settle(compute_threads: int) -> None:
    """After the fork: fixes the allocator's settings, draws new seeds, sets the thread count."""
    for option, value in ((-3, MMAP_THRESHOLD_BYTES), (-1, MMAP_THRESHOLD_BYTES), (-8, 2)):
        if LIBC.mallopt(ctypes.c_int(option), ctypes.c_int(value)) != 1:
            raise OSError(f"mallopt refused option {option}")
    # The mother's streams were opened on a log, and descriptor 0 carries the judge's messages, not a learner's input.
    sys.stdin = io.StringIO()
    random.seed(os.urandom(32))
    torch = sys.modules.get("torch")
    if torch is not None:
        # Not torch.manual_seed: it visits every kind of accelerator, which costs a millisecond per run.
        torch.default_generator.manual_seed(int.from_bytes(os.urandom(7), "little"))
        torch.set_num_threads(compute_threads)
    sys.modules["numpy.random"].seed(int.from_bytes(os.urandom(4), "little"))


def wake_card(card_bytes: int) -> None:
    """Makes the card's context and runs a small kernel: the learner does not wait, and what fails is our own fault.

    Raises RuntimeError if CUDA does not start. A build of torch without CUDA has nothing to wake. `card_bytes` bounds
    torch's own allocator, so that an honest program gets an OutOfMemoryError with its line.
    """
    torch = sys.modules.get("torch")
    if torch is not None and torch.version.cuda:
        torch.cuda.init()
        torch.cuda.set_per_process_memory_fraction(min(1.0, card_bytes / torch.cuda.mem_get_info()[1]))
        torch.cuda.manual_seed(int.from_bytes(os.urandom(7), "little"))
        torch.zeros(1, device="cuda").add_(1).item()


def main(driver: str) -> int:
    """Reads the first message on descriptor 0 and runs the driver on it. Returns the process's exit status."""
    try:
        _drivers[driver].run(_read_payload(), 0, 3)
    except BaseException:  # noqa: BLE001 - the driver's own failure, or one that a learner caused
        traceback.print_exc()
        return 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    return 0


def _read_payload() -> bytes:
    length = int.from_bytes(_read_exactly(LENGTH_BYTES), "little")
    if length > MAX_PAYLOAD_BYTES:
        raise ValueError(f"a payload of {length} bytes; {MAX_PAYLOAD_BYTES} is the maximum")
    return _read_exactly(length)


def _read_exactly(count: int) -> bytes:
    pieces = bytearray()
    while len(pieces) < count:
        piece = os.read(0, count - len(pieces))
        if not piece:
            raise EOFError("the payload ended early")
        pieces += piece
    return bytes(pieces)

"""Where no cgroup counts memory, a run that finds a way past the resource limits is still ended at its limit."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from box_parts import TEST_LIMITS, run_to_end

from graders.box import cgroups
from graders.box.interface import Cause, Profile
from graders.box.resident import ResidentMemory
from graders.box.slot import Slot, open_box
from graders.contract.jobs import Flavour

LIMITS = TEST_LIMITS.model_copy(update={"cpu_seconds": 10, "wall_seconds": 20, "memory_mib": 64})
TOUCH = """
import ctypes, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
MIB = 1 << 20
READ, WRITE, PRIVATE_ANONYMOUS = 1, 2, 0x22

def reserve(protection):
    size = 256 * MIB
    while size >= MIB:
        place = libc.mmap(None, ctypes.c_size_t(size), protection, PRIVATE_ANONYMOUS, -1, ctypes.c_long(0))
        if place == ctypes.c_void_p(-1).value:
            size //= 2
        else:
            yield place, size

def touch(pieces):
    done = 0
    for place, size in pieces:
        if libc.mprotect(ctypes.c_void_p(place), ctypes.c_size_t(size), READ | WRITE) == 0:
            ctypes.memset(place, 1, size)
            done += size
    print("touched", done // MIB, flush=True)
    time.sleep(1)
"""
BY_PROTECTION = TOUCH + "touch(list(reserve(READ)))\n"
"""Readable pages are no data. The kernel lets them become writable where the address space is used up."""
ON_THE_STACK = (
    TOUCH
    + """
attributes, base, size = ctypes.create_string_buffer(128), ctypes.c_void_p(), ctypes.c_size_t()
libc.pthread_self.restype = ctypes.c_ulong
libc.pthread_getattr_np(ctypes.c_ulong(libc.pthread_self()), attributes)
libc.pthread_attr_getstack(attributes, ctypes.byref(base), ctypes.byref(size))
touch([(base.value + MIB, 300 * MIB)])
"""
)
TRAIN = """
import threading, torch
torch.set_num_threads(2)
model = torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1))
optimiser = torch.optim.Adam(model.parameters())
def train():
    for _ in range(3):
        optimiser.zero_grad(); model(torch.randn(64, 256)).sum().backward(); optimiser.step()
thread = threading.Thread(target=train); thread.start(); thread.join()
torch.linalg.svd(torch.randn(100, 100, requires_grad=True))[1].sum().backward()
print("trained")
"""


@pytest.fixture(scope="module")
def slot(profile: Profile) -> Iterator[Slot]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cgroups, "find_hierarchies", lambda name: ())
        slot = open_box(profile=profile)
        yield slot
        slot.close()


def test_what_a_process_touches_is_seen_and_what_it_reserves_is_not() -> None:
    program = "import sys; held = bytearray(); print(flush=True)\n"
    program += "for line in sys.stdin:\n    held += b'x' * int(line); print(flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()
        resident = ResidentMemory(child.pid)
        child.stdin.write(f"{32 << 20}\n")
        child.stdin.flush()
        child.stdout.readline()
        grown = resident.read_growth_bytes()
        child.stdin.close()
    assert 32 << 20 <= grown < 80 << 20
    assert resident.read_growth_bytes() <= 0
    resident.close()


def test_a_process_that_is_gone_has_not_grown() -> None:
    assert ResidentMemory(0).read_growth_bytes() == 0


@pytest.mark.box
@pytest.mark.parametrize("flavour", list(Flavour))
def test_memory_on_a_stack_that_no_resource_limit_counts_is_counted(slot: Slot, flavour: Flavour) -> None:
    assert run_to_end(slot, ON_THE_STACK, flavour, LIMITS).exit.cause is Cause.MEMORY_LIMIT


@pytest.mark.box
@pytest.mark.parametrize("flavour", list(Flavour))
def test_pages_that_become_writable_stay_within_the_limit(slot: Slot, flavour: Flavour) -> None:
    ending = run_to_end(slot, BY_PROTECTION, flavour, LIMITS)

    assert ending.exit.cause is Cause.MEMORY_LIMIT or int(ending.printed.split()[1]) <= LIMITS.memory_mib


@pytest.mark.box
def test_what_can_be_reserved_is_little_more_than_the_limit(slot: Slot) -> None:
    """Beyond the limit and the slack there is room for the cell's stack alone, which is mapped already."""
    source = TOUCH + "print(sum(size for _, size in reserve(READ)) // MIB)\n"

    assert int(run_to_end(slot, source, Flavour.PLAIN, LIMITS).printed) <= 64 + 64


@pytest.mark.box
@pytest.mark.parametrize("flavour", list(Flavour))
def test_an_ordinary_program_sees_a_memory_error(slot: Slot, flavour: Flavour) -> None:
    ending = run_to_end(slot, "x = bytearray(100 << 20)", flavour, LIMITS)

    assert ending.document["mistake"]["type"] == "MemoryError"


@pytest.mark.box
def test_training_fits_into_a_small_limit(slot: Slot) -> None:
    ending = run_to_end(slot, TRAIN, Flavour.TORCH, LIMITS.model_copy(update={"memory_mib": 96}))

    assert ending.printed == "trained\n", ending.exit.stderr


@pytest.mark.box
def test_a_run_within_its_limit_is_left_alone(slot: Slot) -> None:
    ending = run_to_end(
        slot, "x = bytearray(b'x') * (50 << 20)\nimport time; time.sleep(0.3)\nprint('held')", Flavour.PLAIN, LIMITS
    )

    assert ending.printed == "held\n"

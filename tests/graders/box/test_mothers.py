"""Slots share what was imported, and nothing else; mothers and zygotes that die are replaced."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from box_parts import DOCUMENT_BYTES, TEST_LIMITS, make_request

from graders.box.interface import Profile
from graders.box.jail.mother import find_shared_memory
from graders.box.slot import Slot, open_boxes
from graders.contract.jobs import Flavour

pytestmark = pytest.mark.box

REPOSITORY = Path(__file__).resolve().parents[3]
MIB_A_SLOT = 40
NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "uts")
LEAVE_TRACES_AND_WAIT = """
import builtins, os
builtins.MARK = 1
try:
    open("/tmp/mark", "w").close()
except OSError:
    pass
os.write(3, b"left")
os.read(0, 1)
"""
LOOK_AROUND = """
import builtins, os
print(hasattr(builtins, "MARK"), os.path.exists("/tmp/mark"))
"""
OPEN_AND_WAIT = """
import sys, time
from graders.box.interface import Profile
from graders.box.slot import open_boxes
from graders.contract.jobs import Flavour
[slot] = open_boxes(1, (Flavour.PLAIN,), Profile(sys.argv[1]))
print(slot.find_mother(Flavour.PLAIN), slot.find_zygote(Flavour.PLAIN), flush=True)
time.sleep(60)
"""


@pytest.fixture(scope="module")
def slots(profile: Profile) -> Iterator[list[Slot]]:
    opened = open_boxes(8, tuple(Flavour), profile)
    yield opened
    for slot in opened:
        slot.close()


def run(slot: Slot, source: str, flavour: Flavour = Flavour.PLAIN) -> str:
    running = slot.start(make_request(source, flavour, TEST_LIMITS))
    try:
        running.receive_at_most(DOCUMENT_BYTES)
        return running.wait().stdout.decode()
    finally:
        running.stop()


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def find_parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid))


def list_children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def find_spare(zygote: int) -> int:
    """The child that stands by, once it has been forked."""
    wait_until(lambda: len(list_children(zygote)) == 1)
    return list_children(zygote)[0]


def list_sockets(pid: int) -> list[str]:
    links = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]
    return [link for link in links if link.startswith("socket:")]


def read_own_mib(pid: int) -> float:
    """What this process shares with no other."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


def name_namespaces(pid: int) -> dict[str, str]:
    return {name: str(Path(f"/proc/{pid}/ns/{name}").readlink()) for name in NAMESPACES}


def test_eight_slots_are_forks_of_one_import(slots: list[Slot]) -> None:
    for flavour in Flavour:
        [mother] = {slot.find_mother(flavour) for slot in slots}
        assert {find_parent(slot.find_zygote(flavour)) for slot in slots} == {mother}


def test_a_slot_that_waits_adds_little_memory_of_its_own(slots: list[Slot]) -> None:
    for slot in slots:
        zygotes = [slot.find_zygote(flavour) for flavour in Flavour]
        processes = [*zygotes, *(find_spare(zygote) for zygote in zygotes)]
        assert sum(read_own_mib(pid) for pid in processes) <= MIB_A_SLOT


def test_a_zygote_holds_no_socket_but_its_own(slots: list[Slot]) -> None:
    zygotes = [slot.find_zygote(flavour) for slot in slots for flavour in Flavour]
    for zygote in zygotes:
        # While it forks, it also holds what the child will stand by on.
        wait_until(lambda zygote=zygote: len(list_sockets(zygote)) == 1)

    assert len({list_sockets(zygote)[0] for zygote in zygotes}) == len(zygotes)


def test_no_memory_is_writable_for_two_slots(slots: list[Slot]) -> None:
    for flavour in Flavour:
        for pid in (slots[0].find_mother(flavour), slots[0].find_zygote(flavour)):
            assert find_shared_memory(Path(f"/proc/{pid}/maps").read_text()) == []


@pytest.mark.parametrize(
    "line",
    [
        "7f00-7f01 rw-s 00000000 00:01 77 /dev/zero (deleted)",
        "7f00-7f01 r--s 00000000 00:01 77 /dev/zero (deleted)",
        "7f00-7f01 r--s 00000000 00:01 77 /memfd:x (deleted)",
        "7f00-7f01 rw-s 00000000 08:01 77 /usr/share/cache",
        "7f00-7f01 ---s 00000000 00:01 77",
    ],
)
def test_memory_that_forks_share_is_found_in_any_form(line: str) -> None:
    others = ["7f00-7f01 rw-p 00000000 00:00 0 [heap]", "7f00-7f01 r--s 00000000 08:01 77 /usr/share/cache"]

    assert find_shared_memory("\n".join([*others, line])) == [line]


def test_a_run_sees_nothing_of_one_in_another_slot(slots: list[Slot]) -> None:
    for flavour in Flavour:
        beside = slots[0].start(make_request(LEAVE_TRACES_AND_WAIT, flavour, TEST_LIMITS))
        try:
            assert beside.receive(4) == b"left"
            assert run(slots[1], LOOK_AROUND, flavour) == "False False\n"
            assert not beside.is_over
        finally:
            beside.stop()


def test_runs_of_two_slots_share_no_namespace(slots: list[Slot], profile: Profile) -> None:
    if profile is Profile.P3:
        pytest.skip("P3 has no namespaces")
    ours = name_namespaces(os.getpid())
    seen: list[dict[str, str]] = []
    for zygote in (slot.find_zygote(flavour) for slot in slots[:2] for flavour in Flavour):
        child = find_spare(zygote)
        # The child that stands by enters them while we look.
        wait_until(lambda child=child: not ours.items() & name_namespaces(child).items())
        seen.append(name_namespaces(child))

    assert {name: len({one[name] for one in seen}) for name in NAMESPACES} == dict.fromkeys(NAMESPACES, len(seen))


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user's boxes have that user's own id")
def test_no_two_slots_run_as_the_same_user(slots: list[Slot], profile: Profile) -> None:
    users = {run(slot, "import os; print(os.getuid())") for slot in slots}

    assert users == {f"{slot.uid}\n" for slot in slots}
    assert len(users) == len(slots)


def test_a_zygote_that_was_killed_is_replaced_by_a_fork_of_the_same_mother(slots: list[Slot]) -> None:
    for flavour in Flavour:
        mother, killed = slots[2].find_mother(flavour), slots[2].find_zygote(flavour)
        kill(killed)

        assert run(slots[2], "print('again')", flavour) == "again\n"
        assert slots[2].find_zygote(flavour) != killed
        assert find_parent(slots[2].find_zygote(flavour)) == slots[2].find_mother(flavour) == mother


def test_a_mother_that_was_killed_is_missed_by_no_run_and_replaced_for_the_next_zygote(slots: list[Slot]) -> None:
    mother, killed = slots[3].find_mother(Flavour.PLAIN), slots[3].find_zygote(Flavour.PLAIN)
    beside = slots[4].start(make_request("import os; os.read(0, 1); print('unharmed')", Flavour.PLAIN, TEST_LIMITS))
    kill(mother)

    beside.send(b"x")
    assert beside.wait().stdout == b"unharmed\n"
    assert run(slots[3], "print('served')") == "served\n"
    assert slots[3].find_zygote(Flavour.PLAIN) == killed

    kill(killed)
    assert run(slots[3], "print('again')") == "again\n"
    assert slots[3].find_mother(Flavour.PLAIN) == slots[4].find_mother(Flavour.PLAIN) != mother
    assert find_parent(slots[3].find_zygote(Flavour.PLAIN)) == slots[3].find_mother(Flavour.PLAIN)
    assert run(slots[4], "print('served')") == "served\n"


def test_the_mothers_end_with_the_last_slot(profile: Profile) -> None:
    first, second = open_boxes(2, (Flavour.PLAIN,), profile)
    mother = first.find_mother(Flavour.PLAIN)
    first.close()

    assert run(second, "print('served')") == "served\n"
    second.close()
    assert not is_alive(mother)


def test_mothers_and_zygotes_end_with_a_worker_that_was_killed(profile: Profile) -> None:
    command = [sys.executable, "-c", OPEN_AND_WAIT, profile.value]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        mother, zygote = (int(pid) for pid in worker.stdout.readline().split())
        assert is_alive(mother)
        assert is_alive(zygote)
        worker.kill()

    wait_until(lambda: not is_alive(mother) and not is_alive(zygote))

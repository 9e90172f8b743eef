"""A card is found in a device folder and bound into the box. Harmless nodes stand for the driver's."""

import ast
import errno
import struct
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from box_parts import DOCUMENT_BYTES, TEST_LIMITS, make_request

from graders.box.card import Card, NoCard, find_card, list_cards
from graders.box.interface import BoxFault, Profile
from graders.box.interpreter import clean_environment, plan_root
from graders.box.jail import mother
from graders.box.self_test import run_self_test
from graders.box.slot import CARD_HOST_MIB, CARD_SECONDS, Slot, add_card, open_box
from graders.contract.jobs import Flavour
from graders.contract.limits import CELL_LIMITS

PARAMS = "ModifyDeviceFiles: 0\n"
STAND_IN = Card(
    nodes=(("/dev/full", "/dev/nvidiactl"), ("/dev/full", "/dev/nvidia-uvm"), ("/dev/zero", "/dev/nvidia3")),
    facts=(("/proc/driver/nvidia/params", PARAMS),),
)


def make_devices(folder: Path, *names: str) -> Path:
    """A device folder whose nodes are character devices, as the driver's are."""
    for name in names:
        (folder / name).symlink_to("/dev/null")
    return folder


@pytest.mark.parametrize(
    ("present", "missing"),
    [
        ((), ("nvidiactl", "nvidia-uvm", "nvidia0")),
        (("nvidiactl", "nvidia-uvm", "nvidia-modeset", "nvidia-caps"), ("nvidia0",)),
        (("nvidia3", "nvidiactl"), ("nvidia-uvm",)),
    ],
)
def test_the_missing_nodes_are_named(tmp_path: Path, present: tuple[str, ...], missing: tuple[str, ...]) -> None:
    with pytest.raises(NoCard) as raised:
        find_card(devices=make_devices(tmp_path, *present))
    paths = ", ".join(str(tmp_path / name) for name in missing)
    assert str(raised.value).startswith(f"no card: {paths} missing; load NVIDIA's driver and run")


def test_a_file_is_no_node(tmp_path: Path) -> None:
    devices = make_devices(tmp_path, "nvidiactl", "nvidia-uvm")
    (devices / "nvidia0").write_text("")
    assert list_cards(devices) == ()
    with pytest.raises(NoCard, match="nvidia0 missing"):
        find_card(devices=devices)


def test_one_of_several_cards_is_chosen_by_its_number(tmp_path: Path) -> None:
    devices = make_devices(tmp_path, "nvidiactl", "nvidia-uvm", "nvidia1", "nvidia10", "nvidia2")
    with pytest.raises(NoCard, match="3 cards; choose one with UNWIND_CARD, which may be 1, 2, 10"):
        find_card(devices=devices)
    with pytest.raises(NoCard, match="nvidia0 missing"):
        find_card(0, devices=devices)
    assert (str(devices / "nvidia10"), "/dev/nvidia10") in find_card(10, devices=devices).nodes


def test_a_card_has_the_drivers_folders_and_small_files(tmp_path: Path) -> None:
    devices = make_devices(tmp_path, "nvidiactl", "nvidia-uvm", "nvidia0")
    driver = tmp_path / "driver"
    driver.mkdir()
    (driver / "params").write_text(PARAMS)
    libraries = tmp_path / "lib"
    libraries.mkdir()
    (libraries / "libcuda.so.1").touch()
    card = find_card(devices=devices, library_folders=(str(tmp_path), str(libraries)), driver_facts=driver)
    assert card.facts == (("/proc/driver/nvidia/params", PARAMS),)
    assert card.library_folders == (str(libraries),)
    assert str(libraries) in plan_root(Flavour.PLAIN, card).readable
    assert clean_environment(card)["LD_LIBRARY_PATH"] == str(libraries)
    assert "LD_LIBRARY_PATH" not in clean_environment()


def test_a_mother_that_initialised_cuda_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = SimpleNamespace(is_initialized=lambda: True)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    monkeypatch.setattr(mother.prepare_for_fork, "rest", lambda memory_map: None)
    monkeypatch.setattr(mother.Path, "iterdir", lambda self: iter([Path("1")]))
    with pytest.raises(RuntimeError, match="initialised CUDA"):
        mother._settle_memory()


def test_a_card_adds_to_a_runs_limits_what_its_driver_takes() -> None:
    wider = add_card(CELL_LIMITS)
    assert wider.cpu_seconds == CELL_LIMITS.cpu_seconds + CARD_SECONDS
    assert wider.memory_mib == CELL_LIMITS.memory_mib + CARD_HOST_MIB


@pytest.fixture(scope="module")
def card_box(profile: Profile) -> Iterator[Slot]:
    if profile is Profile.P3:
        pytest.skip("profile P3 has no root of its own, in which a stand-in could have a driver's name")
    slot = open_box((Flavour.PLAIN, Flavour.TORCH), profile=profile, card=STAND_IN)
    yield slot
    slot.close()


def run_printing(box: Slot, source: str, *, card: bool, flavour: Flavour = Flavour.TORCH) -> object:
    run = box.start(replace(make_request(source, flavour, TEST_LIMITS), card=card))
    run.receive_at_most(DOCUMENT_BYTES)
    exit_ = run.wait()
    assert exit_.exit_code == 0, exit_.stderr
    return ast.literal_eval(exit_.stdout.decode())


LOOK = """
import resource
def read(path, mode):
    try:
        with open(path, mode) as file:
            return file.read(4)
    except OSError as error:
        return error.errno
paths = ("/dev/nvidia0", "/dev/nvidia3", "/dev/nvidiactl", "/dev/nvidia-uvm")
seen = [read(path, "rb") for path in paths], read("/proc/driver/nvidia/params", "r")
print((*seen, resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY))
"""
ASK = """
import fcntl, os
card, control = os.open("/dev/nvidia3", os.O_RDWR), os.open("/dev/nvidiactl", os.O_RDWR)
assert os.read(card, 4) == bytes(4)
def ask(file, number):
    try:
        fcntl.ioctl(file, number)
    except OSError as error:
        return error.errno
print([ask(file, number) for file in (card, control) for number in NUMBERS])
"""


ABSENT, CLOSED = errno.ENOENT, errno.EACCES


def test_a_run_that_asks_has_the_card(card_box: Slot) -> None:
    assert run_printing(card_box, LOOK, card=True) == ([ABSENT, *[bytes(4)] * 3], PARAMS[:4], True)


def test_the_card_is_closed_to_a_run_that_did_not_ask(card_box: Slot) -> None:
    assert run_printing(card_box, LOOK, card=False) == ([ABSENT, CLOSED, CLOSED, CLOSED], CLOSED, False)


def test_a_run_without_torch_finds_no_card(card_box: Slot) -> None:
    found = run_printing(card_box, LOOK, card=False, flavour=Flavour.PLAIN)
    assert found == ([ABSENT] * 4, ABSENT, False)


def test_a_box_without_a_card_has_none_of_its_nodes(box: Slot) -> None:
    assert not box.has_card
    assert run_printing(box, LOOK, card=False) == ([ABSENT] * 4, ABSENT, False)
    with pytest.raises(BoxFault, match="asks for a card, and this box was opened without one"):
        run_printing(box, LOOK, card=True)


def test_every_boundary_holds_in_a_box_that_has_a_card(card_box: Slot) -> None:
    report = run_self_test([card_box])
    assert [boundary.name for boundary in report.boundaries if not boundary.held] == []


def test_the_drivers_calls_reach_the_driver_and_others_do_not(card_box: Slot) -> None:
    """The stand-in refuses them with ENOTTY: they got past Landlock and seccomp."""
    front_end = (3 << 30) | struct.calcsize("32s") << 16 | ord("F") << 8
    let_through = [front_end | 0x2A, front_end | 200, 0x30000001, 27, 73]
    refused = [front_end | 211, 62, 63, 0x5412, ord("G") << 8 | 0x2A]
    asked = run_printing(card_box, ASK.replace("NUMBERS", repr([*let_through, *refused])), card=True)
    one_file = [errno.ENOTTY] * len(let_through) + [errno.EPERM] * len(refused)
    assert asked == one_file * 2


def test_a_node_that_is_gone_is_a_fault_of_ours(tmp_path: Path) -> None:
    gone = Card(nodes=((str(tmp_path / "nvidia0"), "/dev/nvidia0"),))
    with pytest.raises(BoxFault, match="nvidia0"):
        open_box((Flavour.TORCH,), card=gone)


def test_the_suite_says_whether_a_card_is_here() -> None:
    if not Path("/dev/nvidiactl").exists():
        pytest.skip("no card here: that CUDA starts in the box is left to `make gpu-acceptance`")
    assert list_cards()

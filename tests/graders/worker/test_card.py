"""A grader for the queue `gpu` refuses to start, and says what is missing; no card is needed to test it."""

import logging
from pathlib import Path

import pytest

from graders.contract.jobs import Queue
from graders.contract.settings import GraderSettings
from graders.worker.card import explain_refusal, find_missing_nodes
from graders.worker.main import REFUSED, main


def make_devices(folder: Path, *names: str) -> Path:
    """A device folder whose nodes are character devices, as the driver's are."""
    for name in names:
        (folder / name).symlink_to("/dev/null")
    return folder


@pytest.mark.parametrize(
    ("present", "missing"),
    [
        ((), ("nvidiaN", "nvidiactl", "nvidia-uvm")),
        (("nvidiactl", "nvidia-uvm", "nvidia-modeset", "nvidia-caps"), ("nvidiaN",)),
        (("nvidia0", "nvidiactl"), ("nvidia-uvm",)),
        (("nvidia3", "nvidiactl", "nvidia-uvm"), ()),
    ],
)
def test_the_missing_nodes_are_named(tmp_path: Path, present: tuple[str, ...], missing: tuple[str, ...]) -> None:
    assert find_missing_nodes(make_devices(tmp_path, *present)) == tuple(str(tmp_path / name) for name in missing)


def test_a_file_is_no_node(tmp_path: Path) -> None:
    devices = make_devices(tmp_path, "nvidiactl", "nvidia-uvm")
    (devices / "nvidia0").write_text("")
    assert find_missing_nodes(devices) == (str(devices / "nvidiaN"),)


def test_each_reason_has_its_remedy(tmp_path: Path) -> None:
    assert "nvidia-modprobe -u" in explain_refusal(1, tmp_path)
    make_devices(tmp_path, "nvidia0", "nvidiactl", "nvidia-uvm")
    assert "UNWIND_SLOTS is 2; set UNWIND_SLOTS=1" in explain_refusal(2, tmp_path)
    assert "binds no card" in explain_refusal(1, tmp_path)


def test_the_grader_ends_with_the_status_of_a_refusal(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        assert main(GraderSettings(slots=1), Queue.GPU) == REFUSED
    assert "the queue gpu is not served: " in caplog.text

"""Every attack ends as it should, escapes nothing, and leaves a clean zygote and an unchanged host."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from graders.box.slot import Slot
from graders.contract.jobs import Flavour

REPOSITORY = Path(__file__).resolve().parents[3]
ATTACKS: list[dict[str, Any]] = yaml.safe_load((REPOSITORY / "tests/graders/attacks.yaml").read_text())

CLEAN = """
import builtins, os, random, sys, torch
assert not hasattr(torch, "PWNED") and not hasattr(builtins, "PWNED"), "patched"
try:
    own = {path.split("/")[2] for path in sys.path if path.startswith("/tmp/")}
    assert set(os.listdir("/tmp")) <= own, "files"
except PermissionError:
    pass
x = torch.ones(3, requires_grad=True)
(x * 2).sum().backward()
assert x.grad.tolist() == [2.0, 2.0, 2.0], "torch"
print("clean")
"""

pytestmark = pytest.mark.box


@pytest.fixture(scope="module")
def listening_port() -> Iterator[int]:
    """The control for the network attacks: from outside the box this port answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        yield port


@pytest.mark.parametrize("attack", ATTACKS, ids=[f"{attack['id']} {attack['title']}" for attack in ATTACKS])
def test_an_attack_ends_as_it_should_and_the_next_run_is_clean(
    attack: dict[str, Any], run_cell: Any, listening_port: int
) -> None:
    code = attack["code"].replace("PORT", str(listening_port)).replace("REPOSITORY", str(REPOSITORY))
    device = Path("/dev/null").stat()

    ending = run_cell(code, Flavour.TORCH)

    assert "ESCAPED" not in ending.printed
    assert ending.outcome in attack["allowed"], (ending.exit, ending.document)
    assert run_cell(CLEAN, Flavour.TORCH).printed == "clean\n"
    assert Path("/dev/null").stat().st_mode == device.st_mode


def test_an_attempt_that_succeeds_is_seen(run_cell: Any) -> None:
    assert "ESCAPED" in run_cell("print('ESCAPED')").printed


def test_no_attack_stands_twice() -> None:
    assert len({attack["id"] for attack in ATTACKS}) == len(ATTACKS)


def test_the_attacks_leave_nothing_alive(box: Slot, run_cell: Any) -> None:
    """Under each zygote lives the one child that stands by for the next run; it is forked a moment after the run."""
    run_cell("print(1)", Flavour.TORCH)
    for flavour in box.flavours:
        zygote = box.find_zygote(flavour)
        deadline = time.monotonic() + 10.0
        while len(children := list_children(zygote)) != 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(children) == 1


def list_children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()

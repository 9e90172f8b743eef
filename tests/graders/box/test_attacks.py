"""Every recorded attack ends as it should, escapes nothing, and leaves a clean zygote and an unchanged host."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graders.attacks.attempt import Result, find_trace, open_port, try_attack
from graders.attacks.corpus import BoxAttack, Group, read_box_attacks
from graders.box.slot import Slot
from graders.contract.jobs import Flavour

pytestmark = pytest.mark.box


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The control for the network's attacks: from outside the box this port answers."""
    with open_port() as port:
        assert port is not None
        yield port


@pytest.mark.parametrize("attack", read_box_attacks(), ids=lambda attack: f"{attack.id} {attack.title}")
def test_an_attack_ends_as_it_should_and_the_next_run_is_clean(box: Slot, attack: BoxAttack, port: int) -> None:
    attempted = try_attack(box, attack, port)

    assert attempted.result is Result.HELD, attempted.reason


def make_attack(code: str, *allowed: str) -> BoxAttack:
    return BoxAttack(
        id="X1", group=Group.PROTOCOL, title="a test's own", allowed=frozenset(allowed or {"ok"}), code=code
    )


@pytest.mark.parametrize(
    ("attack", "reason"),
    [
        (make_attack("print('ESCAPED to somewhere')"), "it printed: ESCAPED to somewhere"),
        (make_attack("1 / 0"), "it ended as runtime_error, where only these are right: ok"),
    ],
)
def test_an_attempt_that_succeeds_is_seen(box: Slot, port: int, attack: BoxAttack, reason: str) -> None:
    attempted = try_attack(box, attack, port)

    assert (attempted.result, attempted.reason) == (Result.ESCAPED, reason)


def test_without_a_port_the_networks_attacks_are_not_run_and_say_why(box: Slot) -> None:
    attempted = try_attack(box, make_attack("PORT"), None)

    assert (attempted.result, "no port" in attempted.reason) == (Result.NOT_RUN, True)


def test_the_look_for_traces_finds_one(box: Slot, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_trace(box, Flavour.TORCH) == ""
    monkeypatch.setattr("graders.attacks.attempt.LOOK", "raise SystemExit('a trace was found')")
    assert find_trace(box, Flavour.TORCH) != ""


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

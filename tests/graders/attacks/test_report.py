"""The report of the attacks says what was attacked and how each ended, and passes only where nothing escaped."""

import json

import pytest

from graders.attacks.attempt import Attempted, Result
from graders.attacks.corpus import Attack, Group, read_attacks
from graders.attacks.report import AttackReport, write_json, write_text
from graders.box.interface import Boundary, Profile, SelfTestReport


def make_attack(number: int, group: Group) -> Attack:
    return Attack(id=f"X{number}", group=group, title="a try", allowed=frozenset({"ok"}), code="")


def make_report(*results: Result, boundary_held: bool = True) -> AttackReport:
    groups = [Group.KERNEL, Group.NETWORK]
    attempts = tuple(
        Attempted(make_attack(number, groups[number % 2]), result, "a reason")
        for number, result in enumerate(results)
    )
    boundary = Boundary("files", boundary_held, "a proof")
    return AttackReport(
        profile="P2",
        host="school",
        kernel="Linux 6.1",
        machine="x86_64",
        user="an ordinary user",
        python="3.11.2",
        torch="2.13.0",
        memory_meter="none",
        begun_at="2026-11-22T12:00:00+00:00",
        seconds=90.0,
        self_test=SelfTestReport(Profile.P2, (boundary,), 1.0),
        attempts=attempts,
    )


def test_what_was_not_run_is_counted_apart_and_is_no_escape() -> None:
    report = make_report(Result.HELD, Result.NOT_RUN, Result.HELD)

    assert report.passed
    assert write_json(report)["attacks"] == {
        "kernel": {"held": 2, "escaped": 0, "not run": 0},
        "network": {"held": 0, "escaped": 0, "not run": 1},
    }
    assert write_text(report).endswith("No attack escaped: 2 of 3 were stopped; 1 could not be run here.")


@pytest.mark.parametrize(
    "report", [make_report(Result.HELD, Result.ESCAPED), make_report(Result.HELD, boundary_held=False)]
)
def test_an_escape_or_a_boundary_that_did_not_hold_fails_it(report: AttackReport) -> None:
    assert (report.passed, write_json(report)["passed"]) == (False, False)


def test_the_text_names_the_installation_and_every_attack_with_its_reason() -> None:
    text = write_text(make_report(Result.HELD, Result.ESCAPED))

    for fact in ("P2, started by an ordinary user", "school, Linux 6.1", "torch 2.13.0", "1 of 1 boundaries held"):
        assert fact in text
    assert "  HELD     X0    kernel: a try (a reason)" in text
    assert "  ESCAPED  X1    network: a try (a reason)" in text
    assert "Stop the grader" in text


def test_the_object_is_plain_and_lists_every_attack() -> None:
    told = json.loads(json.dumps(write_json(make_report(Result.HELD))))

    assert told["attempts"] == [
        {"id": "X0", "group": "kernel", "title": "a try", "result": "held", "reason": "a reason"}
    ]
    assert (told["profile"], told["torch"], told["self_test"]) == ("P2", "2.13.0", {"held": 1, "total": 1})


def test_every_recorded_attack_can_be_read_and_has_a_right_end() -> None:
    attacks = read_attacks()

    assert {attack.group for attack in attacks} == set(Group)
    assert [attack.id for attack in attacks if not attack.allowed] == []

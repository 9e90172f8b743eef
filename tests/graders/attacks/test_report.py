"""The report of the attacks says what was attacked and how each ended, and passes only where nothing escaped."""

import json

import pytest

from graders.attacks.attempt import Attempted, Result
from graders.attacks.corpus import BoxAttack, Forgery, Group, Kind, read_attacks
from graders.attacks.report import AttackReport, write_json, write_text
from graders.box.interface import Boundary, Profile, SelfTestReport
from graders.contract.results import Outcome


def make_attack(number: int) -> BoxAttack | Forgery:
    if number % 2:
        return Forgery(id=f"X{number}", title="a try", allowed=frozenset({Outcome.WRONG_ANSWER}), source="")
    return BoxAttack(id=f"X{number}", group=Group.KERNEL, title="a try", allowed=frozenset({"ok"}), code="")


def make_report(*results: Result, boundary_held: bool = True) -> AttackReport:
    """One attack on the box, one on the judge, and so on."""
    attempts = tuple(Attempted(make_attack(number), result, "a reason") for number, result in enumerate(results))
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
    assert write_json(report)["kinds"] == {
        "box": {"held": 2, "escaped": 0, "forged": 0, "not run": 0},
        "judge": {"held": 0, "escaped": 0, "forged": 0, "not run": 1},
    }
    assert write_json(report)["attacks"] == {
        "credit": {"held": 0, "escaped": 0, "forged": 0, "not run": 1},
        "kernel": {"held": 2, "escaped": 0, "forged": 0, "not run": 0},
    }
    assert write_text(report).endswith(
        "No attack escaped and no forgery passed: 2 of 3 were stopped; 1 could not be run here."
    )


@pytest.mark.parametrize(
    "report",
    [
        make_report(Result.HELD, Result.ESCAPED),
        make_report(Result.HELD, Result.FORGED),
        make_report(Result.HELD, boundary_held=False),
    ],
    ids=["an escape", "a forgery", "a boundary"],
)
def test_an_escape_a_forgery_or_a_boundary_that_did_not_hold_fails_it(report: AttackReport) -> None:
    assert (report.passed, write_json(report)["passed"]) == (False, False)


def test_the_text_names_the_installation_and_every_attack_with_its_reason() -> None:
    text = write_text(make_report(Result.HELD, Result.FORGED))

    for fact in ("P2, started by an ordinary user", "school, Linux 6.1", "torch 2.13.0", "1 of 1 boundaries held"):
        assert fact in text
    assert "  HELD     X0    kernel: a try (a reason)" in text
    assert "  FORGED   X1    credit: a try (a reason)" in text
    assert "\n  judge                  0         0         1         0\n" in text
    assert "0 of 2 attacks escaped, 1 forgeries passed, 1 were stopped. Stop the grader" in text


def test_the_object_is_plain_and_lists_every_attack() -> None:
    told = json.loads(json.dumps(write_json(make_report(Result.HELD))))

    assert told["attempts"] == [
        {"id": "X0", "kind": "box", "group": "kernel", "title": "a try", "result": "held", "reason": "a reason"}
    ]
    assert (told["profile"], told["torch"], told["self_test"]) == ("P2", "2.13.0", {"held": 1, "total": 1})


def test_every_recorded_attack_can_be_read_and_has_an_id_of_its_own_and_a_right_end() -> None:
    attacks = read_attacks()

    assert {attack.kind for attack in attacks} == set(Kind)
    assert {attack.group for attack in attacks} == set(Group)
    assert [attack.id for attack in attacks if not attack.allowed] == []
    assert len({attack.id for attack in attacks}) == len(attacks)

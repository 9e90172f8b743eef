"""The whole corpus against this installation, and a report that an operator can hand on."""

import os
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from graders.attacks.attempt import Attempted, Result, open_port, try_attack
from graders.attacks.corpus import BoxAttack, CellAttack, Forgery
from graders.attacks.judged import Judge, try_through_judge
from graders.box.interface import SelfTestReport
from graders.box.self_test import run_self_test

OnAttempt = Callable[[Attempted], None]


@dataclass(frozen=True)
class AttackReport:
    """What was attacked, with what, and how each attack ended."""

    profile: str
    host: str
    kernel: str
    machine: str
    user: str
    python: str
    torch: str
    memory_meter: str
    begun_at: str
    seconds: float
    self_test: SelfTestReport
    attempts: tuple[Attempted, ...]

    def count(self, result: Result) -> int:
        return sum(attempted.result is result for attempted in self.attempts)

    @property
    def passed(self) -> bool:
        """Nothing escaped, nothing was forged, and every boundary of the self-test held.

        What was not run proves nothing.
        """
        return self.count(Result.ESCAPED) == self.count(Result.FORGED) == 0 and self.self_test.passed


def attack_installation(
    judge: Judge, attacks: Iterable[BoxAttack | Forgery | CellAttack], on_attempt: OnAttempt
) -> AttackReport:
    """Every attack, one after another, and the self-test."""
    begun, started, slot = datetime.now(UTC), time.monotonic(), judge.slot
    self_test = run_self_test([slot])
    attempts = []
    with open_port() as port:
        for attack in attacks:
            if isinstance(attack, BoxAttack):
                attempts.append(try_attack(slot, attack, port))
            else:
                attempts.append(try_through_judge(judge, attack))
            on_attempt(attempts[-1])
    return AttackReport(
        profile=slot.profile.value,
        host=platform.node(),
        kernel=f"{platform.system()} {platform.release()}",
        machine=platform.machine(),
        user="root" if os.geteuid() == 0 else "an ordinary user",
        python=platform.python_version(),
        torch=slot.torch_version or "not installed",
        memory_meter="kernel" if slot.memory_cgroup else "none",
        begun_at=begun.isoformat(timespec="seconds"),
        seconds=round(time.monotonic() - started, 1),
        self_test=self_test,
        attempts=tuple(attempts),
    )


def write_json(report: AttackReport) -> dict[str, Any]:
    """The report as an object of plain values."""
    facts = {name: value for name, value in vars(report).items() if name not in ("self_test", "attempts")}
    boundaries = report.self_test.boundaries
    return {
        "passed": report.passed,
        **facts,
        "self_test": {"held": sum(boundary.held for boundary in boundaries), "total": len(boundaries)},
        "kinds": _write_counts(_count(report, lambda attempted: attempted.attack.kind.value)),
        "attacks": _write_counts(_count(report, lambda attempted: attempted.attack.group.value)),
        "attempts": [
            {
                "id": attempted.attack.id,
                "kind": attempted.attack.kind.value,
                "group": attempted.attack.group.value,
                "title": attempted.attack.title,
                "result": attempted.result.value,
                "reason": attempted.reason,
            }
            for attempted in report.attempts
        ],
    }


def write_text(report: AttackReport) -> str:
    held = sum(boundary.held for boundary in report.self_test.boundaries)
    facts = {
        "isolation profile": f"{report.profile}, started by {report.user}",
        "host": f"{report.host}, {report.kernel}, {report.machine}",
        "software": f"Python {report.python}, torch {report.torch}",
        "memory meter": report.memory_meter,
        "begun": f"{report.begun_at}, took {report.seconds:.0f} s",
        "self-test": f"{held} of {len(report.self_test.boundaries)} boundaries held",
    }
    lines = ["Attacks on the sandbox and the judge of this installation", ""]
    lines += [f"  {name:18} {value}" for name, value in facts.items()]
    kinds = _count(report, lambda attempted: attempted.attack.kind.value)
    lines += _write_table("kind", kinds | {"all": sum(kinds.values(), Counter())})
    lines += _write_table("group", _count(report, lambda attempted: attempted.attack.group.value))
    lines += ["", *(_write_line(attempted) for attempted in report.attempts), "", _conclude(report)]
    return "\n".join(lines)


def _write_line(attempted: Attempted) -> str:
    attack = attempted.attack
    named = f"{attack.id:5} {attack.group.value}: {attack.title}"
    return f"  {attempted.result.value.upper():8} {named} ({attempted.reason})"


def _write_table(title: str, counts: dict[str, Counter[Result]]) -> list[str]:
    rows = [f"  {name:14}" + "".join(f"{count[result]:>10}" for result in Result) for name, count in counts.items()]
    return ["", f"  {title:14}" + "".join(f"{result.value:>10}" for result in Result), *rows]


def _conclude(report: AttackReport) -> str:
    total, held, not_run = len(report.attempts), report.count(Result.HELD), report.count(Result.NOT_RUN)
    left_out = f"; {not_run} could not be run here" if not_run else ""
    if report.passed:
        return f"No attack escaped and no forgery passed: {held} of {total} were stopped{left_out}."
    escaped, forged = report.count(Result.ESCAPED), report.count(Result.FORGED)
    got_through = f"{escaped} of {total} attacks escaped, {forged} forgeries passed, {held} were stopped{left_out}"
    return f"{got_through}. Stop the grader, and tell the maintainers (SECURITY.md)."


def _write_counts(counts: dict[str, Counter[Result]]) -> dict[str, dict[str, int]]:
    return {name: {result.value: count[result] for result in Result} for name, count in counts.items()}


def _count(report: AttackReport, name_of: Callable[[Attempted], str]) -> dict[str, Counter[Result]]:
    counts: dict[str, Counter[Result]] = {}
    for attempted in report.attempts:
        counts.setdefault(name_of(attempted), Counter())[attempted.result] += 1
    return dict(sorted(counts.items()))

"""How the versions of website and graders differ: programs, exercises, and what waits because of it. No I/O."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from graders.contract.hello import WorkerHello
from graders.contract.model import ExerciseName
from graders.ledger import Lack, Unjudged

NONE = "none"
UNKNOWN = "not told"


@dataclass(frozen=True)
class ExerciseRow:
    """An exercise of which somebody has another version than the website. `graders` says who has which digest."""

    name: str
    website: str
    graders: tuple[str, ...]


@dataclass(frozen=True)
class WaitingRow:
    """What waits because nobody can judge it, in words."""

    queue: str
    what: str
    waiting: int
    longest: str
    remedy: str


def compare_programs(website: str, hellos: Sequence[WorkerHello]) -> tuple[str, ...]:
    """One sentence for each part of the program that is not the same everywhere; nothing while all are the same.

    `website` is the version of Unwind that shows the page. A grader's exercises and queue may differ on purpose, so
    graders are compared with each other only in what changes a verdict.
    """
    parts = {
        "Unwind": [("the website", website), *((hello.worker, hello.version) for hello in hellos)],
        "the graders’ code": [(hello.worker, hello.code) for hello in hellos],
        "Python": [(hello.worker, hello.python) for hello in hellos],
        "torch": [(hello.worker, hello.torch or NONE) for hello in hellos],
    }
    grouped = {part: _group(pairs) for part, pairs in parts.items()}
    return tuple(
        f"The versions of {part} differ: {_list(groups)}." for part, groups in grouped.items() if len(groups) > 1
    )


def compare_exercises(website: Mapping[ExerciseName, str], hellos: Sequence[WorkerHello]) -> tuple[ExerciseRow, ...]:
    """Those that a grader has in another version than the website, or lacks, or has although the website lacks it.

    A grader that judges any version is left out.
    """
    told = [(hello, hello.exercises) for hello in hellos if hello.exercises is not None]
    names = sorted(website.keys() | {name for _, exercises in told for name in exercises})
    rows = []
    for name in names:
        here = website.get(name, NONE)
        if any(exercises.get(name, NONE) != here for _, exercises in told):
            pairs = [(hello.worker, _tell(hello, name, exercises.get(name, NONE), here)) for hello, exercises in told]
            rows.append(ExerciseRow(name, here, tuple(f"{has}: {_name(who)}" for has, who in _group(pairs).items())))
    return tuple(rows)


def show_waiting(unjudged: Iterable[Unjudged]) -> tuple[WaitingRow, ...]:
    return tuple(
        WaitingRow(one.queue.value, what, one.waiting, f"{one.seconds:.0f} s", remedy)
        for one in unjudged
        for what, remedy in [_explain(one)]
    )


def _explain(unjudged: Unjudged) -> tuple[str, str]:
    """What waits, and the remedy."""
    match unjudged.lack:
        case Lack.GRADER:
            return "all of the queue", f"start a grader with --queue {unjudged.queue.value}"
        case Lack.EXERCISE:
            return f"{unjudged.exercise} in version {unjudged.digest}", "give a grader the website’s course"
        case Lack.PROGRAM:
            return "what a newer website wrote", "give the graders the website’s version of Unwind"
        case lack:
            assert_never(lack)


def _tell(hello: WorkerHello, name: ExerciseName, has: str, website: str) -> str:
    return f"{has}, and {website} too" if has != website and hello.can_judge(name, website) else has


def _group(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Who has each value, in the order of the values."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for who, value in pairs:
        groups[value or UNKNOWN].append(who)
    return dict(sorted(groups.items()))


def _list(groups: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{value} ({_name(who)})" for value, who in groups.items())


def _name(who: Sequence[str], at_most: int = 6) -> str:
    return ", ".join(who[:at_most]) + (f" and {len(who) - at_most} more" if len(who) > at_most else "")

"""The command that says what is wrong with an installation, and what to do about it. It changes nothing."""

import argparse
import asyncio
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, assert_never

from httpx2 import HTTPError
from sqlalchemy.exc import SQLAlchemyError

from app.preflight import CannotServe, check_course, check_data_folder, check_disk
from app.proxies import Buffered, find_buffering
from app.publishing import read_exercise_digests
from app.settings import Settings
from app.storage.database import MigrationRefused, is_up_to_date, show_url
from graders.contract.course_versions import live_course
from graders.contract.hello import WorkerHello
from graders.contract.jobs import Queue
from graders.contract.model import ExerciseName
from graders.ledger import Condition, Lack, Ledger, StorageRefused, Unjudged, open_ledger

ROOMY_MIB: Final = 1024
CLOCK_SECONDS: Final = 2.0
WAITING_SECONDS: Final = 60.0


class Level(StrEnum):
    FINE = "fine"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True)
class Finding:
    """One line of the report. The words of a warning and of what is wrong end with the remedy."""

    level: Level
    words: str


def main(arguments: Sequence[str], settings: Settings) -> int:
    """Examine the installation of these settings. Exit status: 0 nothing is wrong, 1 something is."""
    parser = argparse.ArgumentParser(prog="python -m app doctor", description=main.__doc__)
    parser.add_argument("--url", help="the site's public address: runs a cell there, to see what a proxy holds back")
    asked = parser.parse_args(arguments)
    found = [*examine(settings), *(examine_proxy(asked.url) if asked.url else [])]
    for finding in found:
        sys.stdout.write(f"{finding.level:8} {finding.words}\n")
    return int(any(finding.level is Level.WRONG for finding in found))


def examine(settings: Settings) -> list[Finding]:
    found = [*examine_host(settings), examine_database(settings)]
    if found[-1].level is Level.WRONG:
        return found
    return [*found, *asyncio.run(examine_fleet(settings))]


def examine_host(settings: Settings) -> Iterator[Finding]:
    """The course's file, the data folder and its disk."""
    course = live_course(settings.data, settings.course)
    for check, path, words in (
        (check_course, course, f"the course {course} can be read"),
        (check_data_folder, settings.data, f"the data folder {settings.data} can be written"),
        (check_disk, settings.data, ""),
    ):
        try:
            check(path)
        except CannotServe as refusal:
            yield Finding(Level.WRONG, str(refusal))
        else:
            yield Finding(Level.FINE, words) if words else _examine_disk(settings.data)


def _examine_disk(data: Path) -> Finding:
    free_mib = shutil.disk_usage(data).free // 2**20
    if free_mib < ROOMY_MIB:
        return Finding(Level.WARNING, f"the disk of {data} has {free_mib} MiB left: make room soon")
    return Finding(Level.FINE, f"the disk of {data} has {free_mib // 1024} GiB left")


def examine_database(settings: Settings) -> Finding:
    """Whether it answers, is whole and is of this version."""
    shown = show_url(settings.database)
    try:
        current = is_up_to_date(settings.database)
    except (MigrationRefused, SQLAlchemyError) as error:
        cause = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        return Finding(Level.WRONG, f"the database {shown} cannot be used ({cause}): see docs/operating.md")
    if not current:
        return Finding(Level.WRONG, f"the database {shown} is not up to date: run `python -m app migrate`")
    return Finding(Level.FINE, f"the database {shown} answers and is up to date")


async def examine_fleet(settings: Settings) -> list[Finding]:
    ledger = open_ledger(settings.database, settings.wakeups_folder)
    try:
        condition = await ledger.condition()
        return [
            examine_clock(condition.now_seconds, time.time()),
            *examine_graders(settings, [seen.hello for seen in await ledger.workers()], condition),
            *[describe_unjudged(unjudged) for unjudged in await ledger.unjudged()],
            *[await _examine_queue(ledger, queue, condition) for queue in Queue if queue in condition.queues],
        ]
    except StorageRefused as error:
        return [Finding(Level.WRONG, f"the database stopped answering ({error.reason}): look at its server")]
    finally:
        await ledger.close()


def examine_clock(database_seconds: float, host_seconds: float) -> Finding:
    """Sessions end and due dates pass by the clock of a website's host, leases by that of the database."""
    apart = host_seconds - database_seconds
    if abs(apart) > CLOCK_SECONDS:
        ahead = "ahead of" if apart > 0 else "behind"
        return Finding(
            Level.WRONG, f"this host's clock is {abs(apart):.0f} s {ahead} the database's: let NTP set them both"
        )
    return Finding(Level.FINE, "this host and the database have the same time")


def examine_graders(settings: Settings, hellos: Sequence[WorkerHello], condition: Condition) -> Iterator[Finding]:
    if not hellos:
        yield Finding(Level.WRONG, "no grader has reported lately: start one with `python -m graders worker`")
    for silent in condition.silent_workers:
        yield Finding(Level.WARNING, f"the grader {silent} has gone silent: if it should run, look at its log")
    digests = read_exercise_digests(live_course(settings.data, settings.course))
    for hello in hellos:
        yield from examine_grader(hello, digests)


def examine_grader(hello: WorkerHello, digests: Mapping[ExerciseName, str]) -> Iterator[Finding]:
    """How strongly it confines learners' code, and whether its exercises are those of this host's course."""
    who, before = f"the grader {hello.worker}", hello.self_test_total - hello.self_test_passed
    if before:
        yield Finding(Level.WRONG, f"{who} failed {before} of its own tests at its start: its log names them")
    if hello.profile == "P3":
        yield Finding(Level.WARNING, f"{who} confines code as P3: docs/operating.md says what P2 needs")
    if not hello.memory_cgroup:
        yield Finding(Level.WARNING, f"{who} has no memory cgroup, so memory is limited for each process only")
    other = [name for name, digest in digests.items() if not hello.can_judge(name, digest)]
    if other:
        some = ", ".join(sorted(other)[:3]) + (f" and {len(other) - 3} more" if len(other) > 3 else "")
        yield Finding(Level.WRONG, f"{who} has another version of {some}, or none: give it this host's course")
    if not before and hello.profile != "P3" and not other:
        yield Finding(Level.FINE, f"{who} confines code as {hello.profile} and has this host's exercises")


def describe_unjudged(unjudged: Unjudged) -> Finding:
    waits = (
        f"{unjudged.waiting} in the queue {unjudged.queue} wait for a grader, the first for {unjudged.seconds:.0f} s"
    )
    match unjudged.lack:
        case Lack.GRADER:
            why = f"none serves it: start one with `python -m graders worker --queue {unjudged.queue}`"
        case Lack.EXERCISE:
            why = f"none has version {unjudged.digest} of {unjudged.exercise}: give one the website's course"
        case Lack.PROGRAM:
            why = "all are older than the website that wrote these: give them its version of Unwind"
        case lack:
            assert_never(lack)
    return Finding(Level.WRONG, f"{waits}, and {why}")


async def _examine_queue(ledger: Ledger, queue: Queue, condition: Condition) -> Finding:
    depth, oldest = await ledger.depth(queue), condition.queues[queue]
    words = f"the queue {queue} has {depth.queued} waiting and {depth.running} running"
    if oldest > WAITING_SECONDS:
        return Finding(Level.WARNING, f"{words}, the first for {oldest:.0f} s: start more graders, or look at theirs")
    return Finding(Level.FINE, words)


def examine_proxy(url: str) -> list[Finding]:
    """Whether what a run prints arrives while it runs."""
    try:
        held = find_buffering(url)
    except (OSError, HTTPError, ValueError) as error:
        return [Finding(Level.WRONG, f"{url} does not answer as the site does ({error}): check the address")]
    if held is Buffered.HELD_BACK:
        remedy = "turn its buffering off for /api/submissions/ (nginx: proxy_buffering off)"
        return [Finding(Level.WRONG, f"a proxy before {url} holds event streams back: {remedy}")]
    return [Finding(Level.FINE, f"events arrive through {url} while a run is going on")]

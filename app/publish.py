"""`python -m app publish`: check a version of the course, add it to a site's data, make it live, or roll back."""

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from app.check import main as check
from app.course.versions import CourseBrief, compare
from app.publishing import (
    NotPublishable,
    add_version,
    brief_of,
    load_version,
    make_live,
    read_version,
    read_versions,
)
from app.settings import Settings
from app.storage.audit import Actor
from app.storage.database import MigrationRefused, migrate
from app.storage.publications import Publications
from graders.contract.course_versions import GIVEN, read_live
from graders.ledger import Database

Say = Callable[[str], object]
GIVEN_IN_WORDS = "given"
"""How a command names the folder of UNWIND_COURSE."""


def main(arguments: Sequence[str], settings: Settings, say: Say = print) -> int:
    """Exit status: 0 done, 1 refused, with the reason printed."""
    asked = read_arguments(arguments)
    try:
        migrate(settings.database, settings.data)
        if asked.list:
            return list_versions(settings, say)
        if asked.path is None:
            return publish(settings, find_target(settings, asked), say)
        return add(settings, asked, say)
    except (NotPublishable, MigrationRefused) as refusal:
        sys.stderr.write(f"{refusal}\n")
        return 1


def read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m app publish", description=main.__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("path", nargs="?", type=Path, help="the folder of the new version of the course")
    what.add_argument("--version", help=f"make this kept version live; `{GIVEN_IN_WORDS}`: the folder UNWIND_COURSE")
    what.add_argument("--back", action="store_true", help="make the version live that was so before")
    what.add_argument("--list", action="store_true", help="list the versions that are kept")
    parser.add_argument("--text", action="store_true", help="check the text alone; run nothing")
    parser.add_argument("--wait", action="store_true", help="add the version, and let an operator make it live")
    return parser.parse_args(arguments)


def find_target(settings: Settings, asked: argparse.Namespace) -> str:
    """The version that the command names. Raises NotPublishable if there is none to go back to."""
    if not asked.back:
        return GIVEN if asked.version == GIVEN_IN_WORDS else str(asked.version)
    live = read_live(settings.data)
    if live is None:
        raise NotPublishable("Nothing was published here yet, so there is no version to go back to.")
    return live.before


def add(settings: Settings, asked: argparse.Namespace, say: Say) -> int:
    """Check the course, add it, say what changed, and make it live unless it is to wait."""
    root = asked.path.expanduser().resolve()
    if check([str(root), *(["--text"] if asked.text else [])]) != 0:
        raise NotPublishable(f"{root} does not hold, so it is not published.")
    added = add_version(root, settings.data, datetime.now(UTC))
    for change in compare(live_brief(settings), added.brief):
        say(f"  {change.title}: {change.words}")
    if asked.wait:
        say(f"{added.version} is kept. `python -m app publish --version {added.version}` makes it live.")
        return 0
    return publish(settings, added.version, say)


def live_brief(settings: Settings) -> CourseBrief:
    live = read_live(settings.data)
    if live is None or live.version == GIVEN:
        return brief_of(load_version(settings.data, settings.course, GIVEN).course)
    return read_version(settings.data, live.version).brief


def publish(settings: Settings, version: str, say: Say) -> int:
    """Make a kept version live. A running site shows it within seconds."""
    live = make_live(settings.data, settings.course, version, datetime.now(UTC))
    asyncio.run(_note(settings, live.version, live.before))
    say(f"{live.version or settings.course} is live. `python -m app publish --back` undoes it.")
    return 0


async def _note(settings: Settings, version: str, before: str) -> None:
    database = Database(settings.database)
    try:
        named = (version or GIVEN_IN_WORDS, before or GIVEN_IN_WORDS)
        await Publications(database).note(*named, Actor(None, datetime.now(UTC)))
    finally:
        await database.close()


def list_versions(settings: Settings, say: Say) -> int:
    live = read_live(settings.data)
    shown = live.version if live else GIVEN
    for kept in read_versions(settings.data):
        mark = "  live" if kept.version == shown else ""
        say(f"{kept.version}  {kept.brief.title}  {len(kept.brief.chapters)} chapters{mark}")
    say(f"{GIVEN_IN_WORDS}  {settings.course}{'  live' if shown == GIVEN else ''}")
    return 0

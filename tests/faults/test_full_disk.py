"""The disk is full: new work is refused in words, what was accepted is kept, and all goes on when there is room."""

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fault_parts import Stage, open_stage
from sqlalchemy import Connection

from app.storage.database import migrate
from graders.contract.events import EventKind
from graders.contract.jobs import Queue
from graders.contract.results import Outcome, RunEnd
from graders.ledger import Ledger, StorageRefused

only_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


async def set_pages_left(ledger: Ledger, pages: int) -> None:
    """SQLite answers as on a full disk when a database reaches its largest page."""

    def limit(connection: Connection) -> None:
        count = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {count + pages}")

    await ledger.database.write(limit)


async def submit_until_refused(stage: Stage) -> list[str]:
    """As many as the disk holds."""
    accepted = []
    for i in range(2000):
        try:
            accepted.append(await stage.submit("x = 1\n" * 3000, learner=f"l{i}"))
        except StorageRefused:
            break
    assert 0 < len(accepted) < 2000
    return accepted


@only_sqlite
async def test_a_submission_is_refused_whole_and_accepted_ones_are_kept(stage: Stage) -> None:
    await set_pages_left(stage.ledger, 20)
    accepted = await submit_until_refused(stage)
    assert (await stage.ledger.depth(Queue.CPU)).queued == len(accepted)
    await set_pages_left(stage.ledger, 10_000)
    assert await stage.submit("", learner="l999")
    for submission in accepted:
        claim = await stage.ledger.claim(submission, "w")
        assert await stage.ledger.finish(claim, RunEnd(outcome=Outcome.OK))


@only_sqlite
async def test_a_verdict_that_finds_no_room_is_written_later_and_once(stage: Stage) -> None:
    submission = await stage.submit("")
    claim = await stage.ledger.claim(submission, "w")
    await set_pages_left(stage.ledger, 0)
    result = RunEnd(outcome=Outcome.OK, stdout="x" * 100_000)
    with pytest.raises(StorageRefused):
        await stage.ledger.finish(claim, result, [(EventKind.OUTPUT, "x" * 100_000)])
    assert len(await stage.ledger.events_after(submission, 0)) == 2
    await set_pages_left(stage.ledger, 10_000)
    assert await stage.ledger.finish(claim, result)
    await stage.expect_one_verdict(submission)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the right to mount a small file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def make_room(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)


@pytest.mark.slow
async def test_on_a_disk_that_is_really_full_nothing_accepted_is_lost(small_disk: Path) -> None:
    url = f"sqlite:///{small_disk}/unwind.sqlite3"
    migrate(url, small_disk)
    stage = open_stage(small_disk, url)
    stage.start_worker("w")
    try:
        accepted = await submit_until_refused(stage)
        await asyncio.to_thread(make_room, small_disk)
        for submission in accepted:
            await stage.expect_one_verdict(submission, within_seconds=60)
    finally:
        stage.workers.end_workers()
        await stage.ledger.close()

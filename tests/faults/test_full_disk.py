"""The disk is full: new work is refused in words, what was accepted is kept, and all goes on when there is room."""

import asyncio
import secrets
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fault_parts import Stage, open_stage
from postgresql_server import MISSING, Server, find_programs, run_server
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
    accepted, incompressible = [], f"# {secrets.token_hex(30_000)}"
    for i in range(2000):
        try:
            accepted.append(await stage.submit(incompressible, learner=f"l{i}"))
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


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[Path]:
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("needs the right to mount a small file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def make_room(disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,size=256m", str(disk)], check=True)


@pytest.mark.slow
async def test_on_a_disk_that_is_really_full_nothing_accepted_is_lost(tmp_path: Path) -> None:
    with mounted(tmp_path, "1m") as disk:
        url = f"sqlite:///{disk}/unwind.sqlite3"
        migrate(url, disk)
        stage = open_stage(disk, url)
        stage.start_worker("w")
        try:
            accepted = await submit_until_refused(stage)
            await asyncio.to_thread(make_room, disk)
            for submission in accepted:
                await stage.expect_one_verdict(submission, within_seconds=60)
        finally:
            stage.workers.end_workers()
            await stage.ledger.close()


@pytest.fixture
def small_server() -> Iterator[Server]:
    """PostgreSQL with its data and its log on a disk that has little left."""
    programs = find_programs()
    if programs is None:
        pytest.skip(MISSING)
    folder = Path(tempfile.mkdtemp(prefix="unwind-small-"))
    try:
        with mounted(folder, "76m") as disk, run_server(programs, disk) as server:
            yield server
    finally:
        folder.rmdir()


@pytest.mark.slow
@pytest.mark.postgresql
async def test_on_a_full_disk_of_postgresql_nothing_accepted_is_lost(small_server: Server, tmp_path: Path) -> None:
    migrate(small_server.url("postgres"), tmp_path)
    stage = open_stage(tmp_path, small_server.url("postgres"))
    worker = stage.start_worker("w")
    try:
        accepted = await submit_until_refused(stage)
        await asyncio.to_thread(make_room, small_server.folder)
        if not small_server.is_running():
            await asyncio.to_thread(small_server.start)
        for submission in accepted:
            await stage.expect_one_verdict(submission, within_seconds=60)
        await stage.expect_one_verdict(await stage.submit("", learner="later"))
        assert worker.poll() is None
    finally:
        stage.workers.end_workers()
        await stage.ledger.close()

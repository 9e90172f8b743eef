"""PostgreSQL crashes while learners hand in and graders judge: each accepted submission has exactly one verdict."""

import asyncio
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fault_parts import Stage, open_stage
from postgresql_server import MISSING, Server, find_programs, run_server
from served_site import Answer, RunningSite, find_free_port

from app.storage.database import is_up_to_date, migrate
from graders.contract.model import SubmissionId
from graders.ledger import StorageRefused

pytestmark = [pytest.mark.slow, pytest.mark.postgresql]

CRASHES = 6
SUBMISSIONS = 120


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of this test's own, which it may crash."""
    programs = find_programs()
    if programs is None:
        pytest.skip(MISSING)
    with run_server(programs) as server:
        yield server


@contextmanager
def staged(server: Server, data: Path) -> Iterator[Stage]:
    migrate(server.url("postgres"), data)
    stage = open_stage(data, server.url("postgres"))
    try:
        yield stage
    finally:
        stage.workers.end_workers()


async def insist(stage: Stage, number: int) -> SubmissionId:
    """Send it again with its key until it is accepted, as a browser does."""
    while True:
        try:
            return await stage.submit("sleep 0.05", learner=f"l{number % 20}", key=f"t{number}")
        except StorageRefused:
            await asyncio.sleep(0.1)


async def test_six_crashes_of_the_server_lose_and_double_no_submission(server: Server, tmp_path: Path) -> None:
    rng = random.Random(11)
    with staged(server, tmp_path) as stage:
        for name in ("first", "second"):
            stage.start_worker(name)
        accepted: list[SubmissionId] = []

        async def submit_all() -> None:
            for number in range(SUBMISSIONS):
                accepted.append(await insist(stage, number))
                await asyncio.sleep(0.06)

        submitting = asyncio.create_task(submit_all())
        for _ in range(CRASHES):
            await asyncio.sleep(rng.uniform(0.6, 1.4))
            await asyncio.to_thread(server.stop)
            await asyncio.sleep(rng.uniform(0.0, 0.5))
            await asyncio.to_thread(server.start)
        await submitting
        assert len(set(accepted)) == SUBMISSIONS
        for submission in accepted:
            await stage.expect_one_verdict(submission, within_seconds=90)
        assert [worker.poll() for worker in stage.workers.started] == [None, None]
        await stage.ledger.close()


async def test_connections_that_the_server_cuts_at_random_lose_and_double_no_submission(
    server: Server, tmp_path: Path
) -> None:
    rng = random.Random(5)
    with staged(server, tmp_path) as stage:
        for name in ("first", "second"):
            stage.start_worker(name)
        submitting = [asyncio.create_task(insist(stage, number)) for number in range(60)]
        for _ in range(30):
            await asyncio.sleep(rng.uniform(0.02, 0.15))
            cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            await asyncio.to_thread(server.execute, f"{cut} AND backend_type = 'client backend' AND random() < 0.4")
        for submission in [await one for one in submitting]:
            await stage.expect_one_verdict(submission, within_seconds=90)
        await stage.ledger.close()


@pytest.mark.box
def test_while_the_server_is_gone_pages_say_so_and_then_come_back(server: Server, tmp_path: Path) -> None:
    site = RunningSite(tmp_path, server.url("postgres"), find_free_port(), "site")
    try:
        site.wait_until_it_answers()
        answer = Answer("")
        answer.begin(site.port)
        assert site.get("/me", answer.cookie) == 200
        server.stop()
        assert site.get("/healthz") == 200
        assert {site.get(path, answer.cookie) for path in ("/me", "/readyz", "/chapters/a-first-graph") * 2} == {503}
        assert not answer.send(site.port)
        server.start()
        assert site.get("/me", answer.cookie) == 200
        assert answer.send(site.port)
    finally:
        site.close()


async def test_a_backup_that_is_made_under_load_is_whole_and_its_work_goes_on(server: Server, tmp_path: Path) -> None:
    backup = server.folder / "backup.dump"
    with staged(server, tmp_path) as stage:
        stage.start_worker("first")
        before = [await insist(stage, number) for number in range(30)]
        meanwhile = asyncio.create_task(insist_on_all(stage, range(30, 90)))
        await asyncio.to_thread(server.dump, "postgres", backup)
        await meanwhile
        await stage.ledger.close()
    server.restore(backup, "restored")

    assert is_up_to_date(server.url("restored"))
    stage = open_stage(tmp_path, server.url("restored"))
    stage.start_worker("heir")
    try:
        for submission in before:
            await stage.expect_one_verdict(submission, within_seconds=60)
        await stage.expect_one_verdict(await insist(stage, 1000))
    finally:
        stage.workers.end_workers()
        await stage.ledger.close()


async def insist_on_all(stage: Stage, numbers: Iterable[int]) -> None:
    for number in numbers:
        await insist(stage, number)

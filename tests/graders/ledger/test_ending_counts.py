"""What ended since the last look is told once, and what waits for ever makes no look longer."""

import asyncio
import threading
from typing import Any

import pytest
from ledger_parts import ANN, OpenLedger, claim_now, grade
from sqlalchemy import Connection

from graders.contract.jobs import Queue
from graders.contract.model import LearnerId
from graders.contract.results import Outcome, Verdict
from graders.ledger import Endings, Ledger, Origin, Policy
from graders.ledger.fairness import Pace
from graders.ledger.finish import forget
from graders.ledger.submit import SubmitRequest, submit

VERDICT = Verdict(outcome=Outcome.PASSED, exercise="double")


class CountingDatabase:
    """Counts the rows that come back."""

    def __init__(self, ledger: Ledger) -> None:
        self.rows = 0
        self._database = ledger.database

    async def read(self, work: Any, *arguments: Any) -> Any:
        found = await self._database.read(work, *arguments)
        self.rows += len(found) if isinstance(found, list) else 0
        return found


async def finish_one(ledger: Ledger, key: str) -> None:
    accepted = await ledger.submit(ANN, key, grade(key))
    await ledger.finish(await claim_now(ledger, accepted.id), VERDICT)


async def test_a_job_that_nobody_takes_costs_each_look_one_row_and_is_told_when_it_ends(ledger: Ledger) -> None:
    database = CountingDatabase(ledger)
    endings = Endings(database)  # type: ignore[arg-type]
    await endings.begin()
    waiting = await ledger.submit(ANN, "waits", grade("waits"))
    looks = []
    for number in range(3):
        await finish_one(ledger, f"quick-{number}")
        before = database.rows
        looks.append((len(await endings.take_new()), database.rows - before))
    assert looks == [(1, 2), (1, 2), (1, 2)]

    await ledger.cancel(waiting.id, ANN)
    assert [ending.outcome for ending in await endings.take_new()] == ["cancelled"]
    assert await endings.take_new() == ()


async def test_a_job_that_was_deleted_while_it_waited_is_looked_for_no_more(ledger: Ledger) -> None:
    database = CountingDatabase(ledger)
    endings = Endings(database)  # type: ignore[arg-type]
    await endings.begin()
    await ledger.submit(ANN, "waits", grade())
    await endings.take_new()
    await ledger.database.write(forget, ANN)

    assert await endings.take_new() == ()
    assert database.rows == 1


@pytest.mark.parametrize("database_url", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
async def test_a_submission_whose_transaction_commits_after_a_later_one_s_is_counted(
    ledger: Ledger, open_one: OpenLedger
) -> None:
    endings, other = Endings(ledger.database), open_one(Policy())
    await endings.begin()
    numbered, release = threading.Event(), threading.Event()

    def submit_slowly(connection: Connection) -> str:
        request = SubmitRequest(LearnerId("slow"), "t", grade(), Queue.CPU, Origin())
        taken = submit(connection, request, Pace(1, 1.0, 1.0), Policy())
        numbered.set()
        assert release.wait(10)
        return taken.accepted.id

    slow = asyncio.create_task(other.database.write_guarded(submit_slowly))
    await asyncio.to_thread(numbered.wait, 10)
    await finish_one(ledger, "quick")
    assert len(await endings.take_new()) == 1
    release.set()
    await ledger.finish(await claim_now(ledger, await slow), VERDICT)
    assert len(await endings.take_new()) == 1
    assert await endings.take_new() == ()

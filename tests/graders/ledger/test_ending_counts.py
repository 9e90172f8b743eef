"""What ended since the last look is told once, and what waits for ever makes no look longer."""

from typing import Any

from ledger_parts import ANN, claim_now, grade

from graders.contract.results import Outcome, Verdict
from graders.ledger import Endings, Ledger
from graders.ledger.finish import forget

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

"""How long a learner may have a card, and what counts towards it."""

import pytest
from ledger_parts import ANN, BOB, cell, claim_now, grade
from sqlalchemy import Connection, update

from graders.contract.jobs import Queue
from graders.contract.model import SubmissionId
from graders.contract.results import Outcome, RunEnd
from graders.ledger import CardQuotaSpent, Kind, Ledger
from graders.ledger.card_quota import WINDOW_SECONDS
from graders.ledger.tables import submissions


async def run_on_the_card(
    ledger: Ledger,
    key: str,
    seconds: float,
    outcome: Outcome = Outcome.OK,
    *,
    queue: Queue = Queue.GPU,
    ago: float = 0,
) -> SubmissionId:
    """A run that had the card for so long, and ended so many seconds ago."""
    accepted = await ledger.submit(ANN, key, cell(), queue)
    await ledger.finish(await claim_now(ledger, accepted.id), RunEnd(outcome=outcome))

    def move(connection: Connection) -> None:
        row = submissions.c
        started = row.finished_at - seconds - ago
        moved = update(submissions).where(row.id == accepted.id)
        connection.execute(moved.values(started_at=started, finished_at=row.finished_at - ago))

    await ledger.database.write(move)
    return accepted.id


async def test_a_spent_quota_refuses_runs_on_the_card_and_no_others(ledger: Ledger) -> None:
    await run_on_the_card(ledger, "t1", 400)
    await run_on_the_card(ledger, "t2", 200)
    with pytest.raises(CardQuotaSpent, match="for 600 s within the last hour, and 600 s are allowed"):
        await ledger.submit(ANN, "t3", cell(), Queue.GPU)
    assert (await ledger.depth(Queue.GPU)).queued == 0
    await ledger.submit(ANN, "t4", cell())
    await ledger.submit(BOB, "t5", cell(), Queue.GPU)
    assert (await ledger.submit(ANN, "t1", cell(), Queue.GPU)).already


async def test_our_own_faults_the_other_queue_and_what_is_old_do_not_count(ledger: Ledger) -> None:
    await run_on_the_card(ledger, "t1", 500, Outcome.GRADER_FAULT)
    await run_on_the_card(ledger, "t2", 500, queue=Queue.CPU)
    await run_on_the_card(ledger, "t3", 500, ago=WINDOW_SECONDS)
    await run_on_the_card(ledger, "t4", 30)
    quota = await ledger.card_quota(ANN)
    assert (round(quota.used_seconds), quota.most_seconds) == (30, 600.0)
    assert (await ledger.card_quota(BOB)).used_seconds == 0


async def test_a_regrade_costs_its_learner_nothing(ledger: Ledger) -> None:
    known = await run_on_the_card(ledger, "t1", 700)

    def make_regrade(connection: Connection) -> None:
        connection.execute(update(submissions).where(submissions.c.id == known).values(kind=Kind.REGRADE))

    await ledger.database.write(make_regrade)
    assert (await ledger.card_quota(ANN)).used_seconds == 0
    await ledger.submit(ANN, "t2", grade(), Queue.GPU)

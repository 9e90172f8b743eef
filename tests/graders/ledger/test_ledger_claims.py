"""A worker's side: claims, leases, the claim number that fences, verdicts."""

import asyncio

from ledger_parts import ANN, OpenLedger, cell, claim_now, grade

from graders.contract.events import EventKind
from graders.contract.results import Outcome, RunEnd, Verdict
from graders.ledger import Claim, Ledger, Policy, State


def verdict(outcome: Outcome = Outcome.PASSED) -> Verdict:
    return Verdict(outcome=outcome, exercise="double")


async def kinds(ledger: Ledger, submission: str) -> list[EventKind]:
    return [event.kind for event in await ledger.events_after(submission, 0)]


async def test_of_two_deliveries_at_once_one_gets_the_claim(ledger: Ledger, open_one: OpenLedger) -> None:
    other = open_one(Policy())
    accepted = await ledger.submit(ANN, "t", grade())
    claims = await asyncio.gather(*(door.claim(accepted.id, f"w{i}") for door in (ledger, other) for i in range(5)))
    assert sum(claim is not None for claim in claims) == 1
    assert await kinds(ledger, accepted.id) == [EventKind.QUEUED, EventKind.STARTED]


async def test_a_verdict_and_its_event_appear_together_and_once(ledger: Ledger) -> None:
    accepted = await ledger.submit(ANN, "t", grade())
    claim = await claim_now(ledger, accepted.id)
    assert await ledger.finish(claim, verdict())
    assert not await ledger.finish(claim, verdict(Outcome.WRONG_ANSWER))
    found = await ledger.find(accepted.id)
    assert (found.state, found.result) == (State.FINISHED, verdict())
    events = await ledger.events_after(accepted.id, 0)
    assert [event.seq for event in events] == [1, 2, 3]
    assert events[-1].body == verdict().model_dump_json()


async def test_the_last_progress_stands_before_the_verdict(ledger: Ledger) -> None:
    accepted = await ledger.submit(ANN, "t", cell())
    claim = await claim_now(ledger, accepted.id)
    assert await ledger.add_events(claim, [(EventKind.OUTPUT, "1"), (EventKind.OUTPUT, "2")])
    assert await ledger.finish(claim, RunEnd(outcome=Outcome.OK), [(EventKind.OUTPUT, "3")])
    events = await ledger.events_after(accepted.id, 2)
    assert [(event.seq, event.body) for event in events[:3]] == [(3, "1"), (4, "2"), (5, "3")]
    assert events[3].kind is EventKind.FINISHED


async def test_a_worker_that_comes_back_after_its_lease_is_fenced_off(hasty: Ledger, ledger: Ledger) -> None:
    accepted = await ledger.submit(ANN, "t", grade())
    zombie = await claim_now(hasty, accepted.id, "zombie")
    second = await claim_now(ledger, accepted.id, "second")
    assert (zombie.claim_number, second.claim_number) == (1, 2)
    assert not await ledger.beat(zombie)
    assert not await ledger.add_events(zombie, [(EventKind.OUTPUT, "late")])
    assert not await ledger.finish(zombie, verdict(Outcome.WRONG_ANSWER), [(EventKind.OUTPUT, "late")])
    assert not await ledger.release(zombie)
    assert await ledger.finish(second, verdict())
    assert (await ledger.find(accepted.id)).result == verdict()
    assert await kinds(ledger, accepted.id) == [
        EventKind.QUEUED,
        EventKind.STARTED,
        EventKind.STARTED,
        EventKind.FINISHED,
    ]


async def test_a_late_worker_whose_job_nobody_took_may_still_finish(hasty: Ledger) -> None:
    accepted = await hasty.submit(ANN, "t", grade())
    claim = await claim_now(hasty, accepted.id)
    assert await hasty.beat(claim)
    assert await hasty.finish(claim, verdict())


async def test_a_beat_keeps_others_away(open_one: OpenLedger) -> None:
    ledger = open_one(Policy(lease_seconds=0.2))
    accepted = await ledger.submit(ANN, "t", grade())
    claim = await claim_now(ledger, accepted.id)
    for _ in range(4):
        await asyncio.sleep(0.1)
        assert await ledger.beat(claim)
    assert await ledger.claim(accepted.id, "other") is None


async def test_a_released_job_is_queued_again_and_counts_no_lost_worker(ledger: Ledger) -> None:
    accepted = await ledger.submit(ANN, "t", grade())
    for _ in range(5):
        assert await ledger.release(await claim_now(ledger, accepted.id))
    assert (await ledger.reconcile()).faulted == 0
    claim = await claim_now(ledger, accepted.id)
    assert claim.claim_number == 6
    assert await ledger.finish(claim, verdict())


async def test_a_worker_is_told_which_of_its_claims_are_lost(ledger: Ledger) -> None:
    claims: list[Claim] = []
    for i in range(3):
        accepted = await ledger.submit(ANN, f"t{i}", cell())
        claims.append(await claim_now(ledger, accepted.id))
    await ledger.cancel(claims[1].id, ANN)
    assert await ledger.find_lost(claims) == (claims[1],)

"""The host's clock is set back or forward, or the host starts again: no run is stuck, and none is lost."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from ledger_parts import ANN, claim_now, grade, hello

from graders.ledger import Database, Ledger, Policy, Reconciled, State, open_ledger_on
from graders.ledger.clock import Clocks
from graders.ledger.tables import metadata

HOUR = 3600.0
POLICY = Policy(lease_seconds=8.0, worker_silence_seconds=15.0)


@dataclass
class FakeClocks:
    """Hands that the test turns."""

    time_of_day: float = 1_000_000.0
    steady: float = 500.0

    def pass_time(self, seconds: float) -> None:
        self.time_of_day += seconds
        self.steady += seconds


@pytest.fixture
def clocks() -> FakeClocks:
    return FakeClocks()


@pytest.fixture
async def host(tmp_path: Path, clocks: FakeClocks) -> AsyncIterator[Ledger]:
    fakes = Clocks(lambda: clocks.time_of_day, lambda: clocks.steady)
    ledger = open_ledger_on(Database(f"sqlite:///{tmp_path}/ledger.sqlite3", fakes), tmp_path / "wakeups", POLICY)
    await ledger.database.write(metadata.create_all)
    yield ledger
    await ledger.close()


@pytest.mark.parametrize("jump_seconds", [-10 * HOUR, -4.0, 4.0, 10 * HOUR])
async def test_a_dead_workers_run_is_queued_again_after_its_lease_whatever_the_time_of_day(
    host: Ledger, clocks: FakeClocks, jump_seconds: float
) -> None:
    accepted = await host.submit(ANN, "t", grade())
    await claim_now(host, accepted.id)
    clocks.time_of_day += jump_seconds
    clocks.pass_time(7.0)
    assert await host.reconcile() == Reconciled()
    clocks.pass_time(1.5)
    assert await host.reconcile() == Reconciled(requeued=1)


@pytest.mark.parametrize("jump_seconds", [-10 * HOUR, 10 * HOUR])
async def test_a_living_workers_run_stays_its_own_whatever_the_time_of_day(
    host: Ledger, clocks: FakeClocks, jump_seconds: float
) -> None:
    accepted = await host.submit(ANN, "t", grade())
    claim = await claim_now(host, accepted.id)
    clocks.time_of_day += jump_seconds
    assert await host.reconcile() == Reconciled()
    assert await host.claim(accepted.id, "another") is None
    assert await host.beat(claim)


@pytest.mark.parametrize("since_boot_seconds", [5.0, 400.0, 5 * HOUR])
async def test_what_ran_when_the_host_was_started_again_is_queued_again(
    host: Ledger, clocks: FakeClocks, since_boot_seconds: float
) -> None:
    accepted = await host.submit(ANN, "t", grade())
    await claim_now(host, accepted.id)
    clocks.steady = since_boot_seconds
    assert await host.reconcile() == Reconciled(requeued=1)
    assert (await host.find(accepted.id)).state is State.QUEUED


async def test_a_worker_that_died_before_the_clock_was_set_back_is_not_counted(
    host: Ledger, clocks: FakeClocks
) -> None:
    await host.say_hello(hello("dead"))
    clocks.time_of_day -= HOUR
    assert await host.workers() == ()
    await host.say_hello(hello("alive"))
    assert [seen.hello.worker for seen in await host.workers()] == ["alive"]

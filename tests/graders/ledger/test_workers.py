"""Which workers there are: those that said hello lately, and said no goodbye."""

import asyncio

from ledger_parts import OpenLedger, hello

from graders.ledger import Policy


async def test_workers_are_listed_while_they_speak(open_one: OpenLedger) -> None:
    ledger = open_one(Policy(worker_silence_seconds=0.2))
    await ledger.say_hello(hello("w1"))
    await ledger.say_hello(hello("w1"))
    await ledger.say_hello(hello("w2"))
    assert [seen.hello for seen in await ledger.workers()] == [hello("w1"), hello("w2")]
    await ledger.say_goodbye("w2")
    assert [seen.hello.worker for seen in await ledger.workers()] == ["w1"]
    await asyncio.sleep(0.3)
    assert await ledger.workers() == ()

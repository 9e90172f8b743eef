"""The website dies between the commit and its answer: the browser sends again, and gets the same submission."""

import asyncio
import signal
import sys

import pytest
from fault_parts import ROOT, Stage

from graders.contract.jobs import Queue

pytestmark = pytest.mark.slow

SUBMIT_AND_DIE = """
import asyncio, os, signal, sys
from pathlib import Path
from graders.contract.jobs import RunJob
from graders.ledger import open_ledger

async def main(data, url):
    ledger = open_ledger(url, data / "doorbell")
    await ledger.submit("ann", "t", RunJob(source=""))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


async def test_a_key_sent_again_after_a_crash_finds_what_was_committed(stage: Stage) -> None:
    command = (sys.executable, "-c", SUBMIT_AND_DIE, str(stage.workers.data), stage.workers.url)
    website = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env={"PYTHONPATH": str(ROOT)})
    assert await website.wait() == -signal.SIGKILL
    assert (await stage.ledger.depth(Queue.CPU)).queued == 1
    stage.start_worker("w")
    submission = await stage.submit("")
    assert (await stage.expect_one_verdict(submission)).claim_number == 1
    assert await stage.submit("") == submission

"""In the real box: a zygote or a mother that dies under a run costs the learner a wait, and nothing else."""

import os
import signal
import threading

import pytest

from graders.box.slot import Slot, open_box
from graders.contract.jobs import Flavour, RunJob
from graders.contract.results import Outcome, RunEnd
from graders.judging.run_job import run_job
from graders.trusted.reference import ReferenceServer

pytestmark = [pytest.mark.box]


@pytest.fixture
def plain_slot(slot: Slot):
    box = open_box((Flavour.PLAIN,), profile=slot.profile)
    yield box
    box.close()


@pytest.mark.parametrize("with_mother", [False, True])
def test_a_cell_whose_zygote_is_killed_ends_as_if_nothing_had_been(plain_slot: Slot, with_mother: bool) -> None:
    heard: list[str] = []
    victims = [plain_slot.find_mother(Flavour.PLAIN)] if with_mother else []
    victims.append(plain_slot.find_zygote(Flavour.PLAIN))

    def kill_once(kind: object, body: object) -> None:
        heard.append(body.text)
        while victims:
            os.kill(victims.pop(), signal.SIGKILL)

    job = RunJob(
        source="import time\nprint('one')\ntime.sleep(0.5)\nprint('two')", flavour=Flavour.PLAIN, want_trace=False
    )
    end = run_job(job, plain_slot, None, ReferenceServer(), kill_once, threading.Event())

    assert isinstance(end, RunEnd)
    assert (end.outcome, end.stdout, heard) == (Outcome.OK, "one\ntwo\n", ["one\n", "two\n"])

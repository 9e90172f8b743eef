"""What a program asked of a metered machine is drawn from the judge's own counts, also in words and as a table."""

import httpx2
import numpy as np
from site_parts import FRAGMENT, FakeWorker

from app.pictures.drawing.schedule import Held, read_walk
from app.web.views.schedules import show_schedule
from graders.contract.results import CaseResult, Outcome, Schedule, Verdict
from graders.trusted.case import MachineSpec
from graders.trusted.machine import Machine, Metered, meter


def keep_the_start_alone() -> Metered:
    """Two layers: the state between them is freed, and computed again for the first pull-back."""
    machine = Machine(MachineSpec(layers=2, most_held=4), np.random.default_rng(0))
    between = machine.forward(0, 0)
    last = machine.forward(1, between)
    machine.free(between)
    gradient = machine.loss(last)
    machine.free(last)
    again = machine.forward(0, 0)
    before = machine.vjp(1, again, gradient)
    machine.free(gradient)
    machine.free(again)
    machine.vjp(0, 0, before)
    return meter(machine)


METERED = keep_the_start_alone()


def test_a_walk_has_the_steps_and_how_long_each_state_was_held() -> None:
    assert METERED.schedule
    walk = read_walk(METERED.schedule)

    kinds = [(step.kind, step.layer) for step in walk.steps]
    assert kinds == [("forward", 0), ("forward", 1), ("loss", -1), ("again", 0), ("vjp", 1), ("vjp", 0)]
    assert walk.states == (Held(0, 0, 6), Held(1, 1, 2), Held(1, 4, 5), Held(2, 2, 3))


def test_the_numbers_are_those_of_the_meter() -> None:
    forwards, held = (int(measure.value) for measure in METERED.measures)
    view = show_schedule(METERED.schedule, METERED.measures)
    assert view

    assert sum(row.runs for row in view.rows) == forwards
    assert view.words == (
        f"6 steps: {forwards} runs of a layer forward, 1 of them again, and 2 pull-backs. "
        f"Most is held after step 5: {held} units."
    )
    assert [(row.layer, row.runs, row.pulled_back, row.held) for row in view.rows] == [
        (1, 1, "5", "1 to 2, 4 to 5"),
        (0, 2, "6", "1 to 6"),
    ]
    assert "most 4" in view.svg
    assert view.cut == ""


def test_a_long_schedule_says_how_much_of_it_is_drawn() -> None:
    assert METERED.schedule
    view = show_schedule(METERED.schedule.model_copy(update={"calls": 1234}), ())
    assert view

    assert view.cut == "Only the first 10 of 1,234 calls are drawn."
    assert "most" not in view.svg.partition("</svg>")[0].partition(">")[2]


def test_a_program_that_asked_nothing_has_no_picture() -> None:
    assert show_schedule(Schedule(layers=3), ()) is None
    assert show_schedule(None, ()) is None


async def test_a_verdict_shows_it_with_its_table(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    case = CaseResult(name="two", idea="Two layers", passed=True, public=True, schedule=METERED.schedule)
    worker.end = lambda _: Verdict(outcome=Outcome.PASSED, exercise="double", cases=(case,), cases_total=1)
    sent = {"source": "x", "idempotency_key": "0123456789abcdef"}
    accepted = (await browser.post("/api/exercises/double/submissions", json=sent)).json()
    await browser.get(accepted["events"])

    html = (await browser.get(f"/exercises/double/submissions/{accepted['id']}", headers=FRAGMENT)).text

    assert html.count('class="schedule-picture"') == 1
    assert '<th scope="row">1</th><td>1</td><td>5</td><td>1 to 2, 4 to 5</td>' in html

"""An exercise's file runs as a program: without a verdict or an attempt, and with its losses drawn."""

import asyncio
import json
from collections.abc import Callable

import httpx2
import pytest
from site_parts import FRAGMENT, FakeWorker, read_stream

from app.course.model import Course
from app.web.views.scripts import CALL, LOSSES_LINE, MAX_POINTS, SETUP, has_script, make_job, show_losses, show_output
from graders.contract.jobs import RunJob
from graders.contract.limits import MAX_SOURCE_BYTES
from graders.contract.results import Outcome, RunEnd

HUNT = "/exercises/early-meetings"
RUN = {"source": "print(1)", "exercise": "early-meetings"}


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[[str], str]:
    """What a file prints in the box, with the line that follows it."""

    def run(source: str) -> str:
        names = {"__name__": "__main__"}
        exec(SETUP, names)
        exec(source + CALL, names)
        return capsys.readouterr().out

    return run


def test_the_list_of_losses_that_a_file_leaves_is_drawn_and_its_line_is_not_shown(
    printed: Callable[[str], str],
) -> None:
    out = printed("losses = [4, 2.5, float('nan'), 1.0]\nprint('loss 9, loss 8')")
    view = show_losses(out)
    assert view

    assert json.loads(view.figure)["data"][0]["y"] == [4.0, 2.5, None, 1.0]
    assert view.rows == ((0, "4"), (1, "2.5"), (2, "nan"), (3, "1"))
    assert view.source == "the list `losses` that it left"
    assert show_output(out) == "loss 9, loss 8\n"


def test_a_long_list_is_thinned_out(printed: Callable[[str], str]) -> None:
    view = show_losses(printed("losses = range(1000)\n"))
    assert view

    assert len(view.rows) <= MAX_POINTS
    assert view.rows[1] == (3, "3")


@pytest.mark.parametrize("source", ["", "losses = None", "losses = ['a']", "losses = 3.0"])
def test_a_file_without_such_a_list_prints_nothing_more(printed: Callable[[str], str], source: str) -> None:
    assert printed(source) == ""


def test_without_a_list_the_numbers_after_the_word_loss_are_drawn() -> None:
    view = show_losses("epoch  0  loss   0.712  norm 3\nepoch  1  Loss: 1e-3\nlossy 4\nloss = nan")
    assert view

    assert view.rows == ((0, "0.712"), (1, "0.001"), (2, "nan"))
    assert view.source == "the numbers after “loss” in what it printed"
    assert show_losses("loss 0.5 -> 0.25") is None


@pytest.mark.parametrize("claimed", ["{}", "3", "[[1]]", '[["a", "b"]]', "[[1, 1e999]]", "[null]", "[[1, 2, 3]]"])
def test_a_forged_line_of_losses_draws_nothing(claimed: str) -> None:
    assert show_losses(f"{LOSSES_LINE}{claimed}\n") is None


def test_a_file_of_the_greatest_length_runs_without_the_line_after_it(course: Course) -> None:
    source = "#" * MAX_SOURCE_BYTES

    assert make_job(course.exercises["early-meetings"], source).source == source


def test_only_a_starter_with_a_main_part_can_be_run(course: Course) -> None:
    assert [name for name, exercise in course.exercises.items() if has_script(exercise)] == ["early-meetings"]


async def read_when_ended(browser: httpx2.AsyncClient, run: str) -> str:
    """The page of a run once it needs no second look."""
    page = (await browser.get(run)).text
    while 'http-equiv="refresh"' in page:
        await asyncio.sleep(0.02)
        page = (await browser.get(run)).text
    return page


async def test_a_file_runs_from_the_page_without_an_attempt(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = lambda _: RunEnd(outcome=Outcome.OK, stdout="loss 2.0\nloss 1.0\n")

    sent = await browser.post(f"{HUNT}/run", data={"source": "print('mine')"})
    page = await read_when_ended(browser, sent.headers["location"])
    exercise = (await browser.get(HUNT)).text

    (job,) = worker.jobs
    assert isinstance(job, RunJob)
    assert job.source == f"print('mine'){CALL}"
    assert not job.want_trace
    assert "data-figure" in page
    assert f'href="{HUNT}#your-answer"' in page
    assert "print_losses" not in page
    assert 'class="history-number"' not in exercise
    assert "print(&#39;mine&#39;)" in exercise


async def test_a_file_streams_and_its_run_is_a_block(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    events = read_stream(await browser.post("/api/runs", json=RUN))
    block = await browser.get(f"/runs/{events[0].data['id']}?exercise=early-meetings", headers=FRAGMENT)

    assert [event.event for event in events][-1] == "done"
    assert block.text.lstrip().startswith('<section class="run is-ok"')


@pytest.mark.parametrize("name", ["double", "no-such-exercise"])
async def test_no_other_file_is_run(browser: httpx2.AsyncClient, name: str) -> None:
    assert (await browser.post("/api/runs", json={**RUN, "exercise": name})).status_code == 404
    assert "data-script" not in (await browser.get(f"/exercises/{name}")).text

"""The one command under the worst: killed whole, killed in parts, stopped with everyone listening."""

import contextlib
import os
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from served_site import (
    COURSE,
    EXERCISE,
    Answer,
    RunningSite,
    find_descendants,
    find_free_port,
    query,
    wait_until_dead,
)

pytestmark = [pytest.mark.slow, pytest.mark.box, pytest.mark.nightly]

OPEN = "Unwind is open at"
PATIENCE_SECONDS = 60.0
OpenSite = Callable[..., RunningSite]


@pytest.fixture
def open_site(tmp_path: Path, database_url: str) -> Iterator[OpenSite]:
    """Starts the site, again and again if need be, on one data folder and one port."""
    port = find_free_port()
    opened: list[RunningSite] = []

    def start(course: Path = COURSE) -> RunningSite:
        site = RunningSite(tmp_path / "data", database_url, port, course=course)
        opened.append(site)
        site.wait_until_said(OPEN)
        return site

    yield start
    for site in opened:
        site.close()


def expect_one_verdict_each(url: str, answers: list[Answer]) -> None:
    ends = Counter(row[0] for row in query(url, "SELECT submission FROM events WHERE kind = 'finished'"))
    assert ends == Counter(answer.id for answer in answers)
    assert query(url, "SELECT DISTINCT state, outcome FROM submissions") == [("finished", "passed")]


def begin_answers(count: int, port: int) -> list[Answer]:
    answers = [Answer() for _ in range(count)]
    for answer in answers:
        answer.begin(port)
    return answers


def insist(answers: list[Answer], port: int, pause_seconds: float, stopping: threading.Event) -> None:
    """Send every answer until it is accepted, as browsers do that keep the key."""
    while not stopping.is_set() and (waiting := [answer for answer in answers if not answer.id]):
        for answer in waiting:
            answer.send(port)
            time.sleep(pause_seconds)


@contextlib.contextmanager
def insisting(answers: list[Answer], port: int, clients: int, pause_seconds: float) -> Iterator[None]:
    """Clients hand in beside the block, and are waited for at its end; a block that fails lets them go."""
    stopping = threading.Event()
    with ThreadPoolExecutor(clients) as threads:
        for part in range(clients):
            threads.submit(insist, answers[part::clients], port, pause_seconds, stopping)
        try:
            yield
        except BaseException:
            stopping.set()
            raise
        until = time.monotonic() + PATIENCE_SECONDS
        while not all(answer.id for answer in answers) and time.monotonic() < until:
            time.sleep(0.05)
        stopping.set()
    assert all(answer.id for answer in answers)


def test_a_hundred_submissions_survive_a_kill_of_everything(open_site: OpenSite) -> None:
    site = open_site()
    answers = begin_answers(100, site.port)
    with insisting(answers, site.port, clients=4, pause_seconds=0.02):
        until = time.monotonic() + PATIENCE_SECONDS
        while sum(bool(answer.id) for answer in answers) < 50:
            assert time.monotonic() < until
            time.sleep(0.01)
        site.kill_whole()
        site = open_site()
    followed = ThreadPoolExecutor(20).map(lambda answer: answer.follow(site.port), answers)
    assert {kinds[-1] for kinds in followed} == {"finished"}
    expect_one_verdict_each(site.url, answers)
    assert site.stop() == 0


def test_nothing_outlives_a_supervisor_that_was_killed(open_site: OpenSite) -> None:
    site = open_site()
    family = find_descendants(site.serving.pid)
    assert len(family) >= 3
    site.serving.kill()
    assert wait_until_dead(family, 10) == []


def test_a_grader_and_a_website_that_are_killed_come_back_and_all_is_judged(open_site: OpenSite) -> None:
    site = open_site()
    answers = begin_answers(60, site.port)
    with insisting(answers, site.port, clients=2, pause_seconds=0.05):
        time.sleep(1)
        os.kill(site.find_part("graders worker"), signal.SIGKILL)
        site.wait_until_said("The grader died (signal 9)")
        os.kill(site.find_part("app.server"), signal.SIGKILL)
        site.wait_until_said("The website died (signal 9)")
    for answer in answers:
        assert answer.follow(site.port)[-1] == "finished"
    expect_one_verdict_each(site.url, answers)


def test_an_exercise_that_is_edited_while_the_site_runs_is_judged_as_it_is_now(
    open_site: OpenSite, tmp_path: Path
) -> None:
    course = Path(shutil.copytree(COURSE, tmp_path / "course"))
    site = open_site(course)
    answers = []
    for edit in ("", "# edited\n"):
        cases = course / "exercises" / EXERCISE / "cases.py"
        cases.write_text(edit + cases.read_text())
        answers.append(Answer())
        assert answers[-1].send(site.port)
        assert answers[-1].follow(site.port)[-1] == "finished"
    expect_one_verdict_each(site.url, answers)
    assert len(query(site.url, "SELECT DISTINCT exercise_digest FROM submissions")) == 2


def test_it_stops_within_seconds_with_a_hundred_streams_open(open_site: OpenSite) -> None:
    site = open_site()
    os.kill(site.find_part("graders worker"), signal.SIGSTOP)
    frozen = site.find_part("graders worker")
    answer = Answer()
    assert answer.send(site.port)
    streams = [answer.open_stream(site.port) for _ in range(100)]
    os.kill(frozen, signal.SIGCONT)
    started = time.monotonic()
    assert site.stop() == 0
    assert time.monotonic() - started < 15
    for stream in streams:
        stream.close()

"""Two websites, two real graders and PostgreSQL; each is killed again and again while learners hand in."""

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from postgresql_server import MISSING, Server, find_programs, run_server
from served_site import COURSE, ROOT, Answer, RunningSite, find_free_port, kill_tree, query

from app.storage.database import migrate

pytestmark = [pytest.mark.slow, pytest.mark.box, pytest.mark.postgresql]

LEARNERS = 30
EACH = 7
KILL_SECONDS = 60.0
PATIENCE_SECONDS = 240.0


class Grader:
    """`python -m graders worker`, as on a host of its own."""

    def __init__(self, data: Path, url: str) -> None:
        variables = {"UNWIND_DATA": str(data), "UNWIND_COURSE": str(COURSE), "UNWIND_DATABASE_URL": url}
        with (data.parent / f"{data.name}.log").open("ab") as log:
            self.running = subprocess.Popen(
                [sys.executable, "-m", "graders", "worker", "--queue", "cpu"],
                cwd=ROOT, env={**os.environ, **variables}, stdout=log, stderr=log,
            )  # fmt: skip

    def vanish(self) -> None:
        kill_tree(self.running.pid)
        self.running.wait()


class Fleet:
    def __init__(self, folder: Path, server: Server) -> None:
        self.folder, self.server, self.url = folder, server, server.url("postgres")
        migrate(self.url, folder)
        self.ports = [find_free_port(), find_free_port()]
        self.sites = [self.start_site(which) for which in (0, 1)]
        self.graders = [self.start_grader(which) for which in (0, 1)]
        for site in self.sites:
            site.wait_until_it_answers()

    def start_site(self, which: int) -> RunningSite:
        return RunningSite(self.folder / f"site-{which}", self.url, self.ports[which], "site")

    def start_grader(self, which: int) -> Grader:
        (self.folder / f"grader-{which}").mkdir(exist_ok=True)
        return Grader(self.folder / f"grader-{which}", self.url)

    def kill_one(self, rng: random.Random) -> str:
        """Kill a part and start it again at once."""
        what, which = rng.choice(("site", "grader", "grader", "server")), rng.randrange(2)
        if what == "site":
            self.sites[which].kill_whole()
            self.sites[which] = self.start_site(which)
        elif what == "grader":
            self.graders[which].vanish()
            self.graders[which] = self.start_grader(which)
        else:
            self.server.stop()
            self.server.start()
        return what

    def close(self) -> None:
        for grader in self.graders:
            grader.vanish()
        for site in self.sites:
            site.kill_whole()


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    programs = find_programs()
    if programs is None:
        pytest.skip(MISSING)
    with run_server(programs) as server:
        fleet = Fleet(tmp_path, server)
        try:
            yield fleet
        finally:
            fleet.close()


def hand_in(fleet: Fleet, rng: random.Random, until: float) -> list[str]:
    """One learner, who sends each answer, now here and now there, until a website has accepted it."""
    accepted: list[str] = []
    first = Answer()
    while not first.cookie and time.monotonic() < until:
        try:
            first.begin(rng.choice(fleet.ports))
        except (OSError, AssertionError):
            time.sleep(0.3)
    for _ in range(EACH):
        answer = Answer(cookie=first.cookie)
        while not answer.send(rng.choice(fleet.ports)) and time.monotonic() < until:
            time.sleep(0.3)
        accepted.append(answer.id)
        time.sleep(rng.uniform(0.0, 2.0 * KILL_SECONDS / EACH))
    return accepted


def count_unfinished(fleet: Fleet) -> int:
    return int(str(query(fleet.url, "SELECT count(*) FROM submissions WHERE state <> 'finished'")[0][0]))


def test_what_was_accepted_has_one_verdict_although_every_part_is_killed_again_and_again(fleet: Fleet) -> None:
    rng, killed, stopping = random.Random(3), Counter[str](), threading.Event()
    until = time.monotonic() + PATIENCE_SECONDS

    def kill_parts() -> None:
        while not stopping.wait(rng.uniform(2.0, 5.0)):
            killed[fleet.kill_one(rng)] += 1

    killing = threading.Thread(target=kill_parts)
    killing.start()
    with ThreadPoolExecutor(LEARNERS) as learners:
        parts = [learners.submit(hand_in, fleet, random.Random(number), until) for number in range(LEARNERS)]
        accepted = [submission for part in parts for submission in part.result()]
    stopping.set()
    killing.join()
    while count_unfinished(fleet) and time.monotonic() < until:
        time.sleep(0.5)

    assert set(killed) == {"site", "grader", "server"}
    assert "" not in accepted
    ends = Counter(row[0] for row in query(fleet.url, "SELECT submission FROM events WHERE kind = 'finished'"))
    assert ends.keys() >= set(accepted)
    assert set(ends.values()) == {1}
    assert count_unfinished(fleet) == 0
    outcomes = Counter(str(row[0]) for row in query(fleet.url, "SELECT outcome FROM submissions"))
    sys.stdout.write(f"killed {dict(killed)}; {len(accepted)} accepted, outcomes {dict(outcomes)}\n")
    assert set(outcomes) <= {"passed", "superseded", "grader_fault"}
    assert outcomes["grader_fault"] <= killed["grader"]

"""Two websites on one PostgreSQL database: whoever loses one goes on at the other, and is the same learner there."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fault_parts import Workers
from served_site import Answer, RunningSite, ServerEvent, find_free_port, query

pytestmark = [pytest.mark.slow, pytest.mark.box]

STREAMS = 100
on_postgresql = pytest.mark.parametrize(
    "database_url", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True
)


@pytest.fixture
def sites(tmp_path: Path, database_url: str) -> Iterator[list[RunningSite]]:
    """As on two hosts: each has a data folder of its own."""
    opened = [RunningSite(tmp_path / name, database_url, find_free_port(), "site") for name in ("here", "there")]
    try:
        for site in opened:
            site.wait_until_it_answers()
        yield opened
    finally:
        for site in opened:
            site.close()


@pytest.fixture
def workers(sites: list[RunningSite], tmp_path: Path) -> Iterator[Workers]:
    """A host of its own."""
    workers = Workers(tmp_path / "grader", sites[0].url)
    yield workers
    workers.end_workers()


@on_postgresql
def test_a_hundred_open_streams_of_a_website_that_vanishes_go_on_at_the_other(
    sites: list[RunningSite], workers: Workers
) -> None:
    here, there = sites
    answer = Answer("")
    assert answer.send(here.port)
    before = [answer.open_stream(here.port) for _ in range(STREAMS)]
    first: list[Iterator[ServerEvent]] = [stream.read() for stream in before]
    assert {next(one).seq for one in first} == {1}

    here.kill_whole()
    for stream in before:
        stream.close()
    workers.start_worker("w")
    after = [answer.open_stream(there.port, after=1) for _ in range(STREAMS)]
    told = [[event.seq for event in stream.read()] for stream in after]
    for stream in after:
        stream.close()

    ends = query(there.url, "SELECT seq FROM events WHERE kind = 'finished'")
    assert len(ends) == 1
    assert told == [list(range(2, int(str(ends[0][0])) + 1))] * STREAMS


@on_postgresql
def test_a_submission_that_one_website_took_and_the_other_is_sent_again_is_one(
    sites: list[RunningSite], workers: Workers
) -> None:
    here, there = sites
    answer = Answer("")
    assert answer.send(here.port)
    taken = answer.id
    assert answer.send(there.port)
    assert answer.id == taken
    workers.start_worker("w")
    assert answer.follow(there.port)[-1] == "finished"
    assert answer.follow(here.port)[-1] == "finished"
    assert query(here.url, "SELECT count(*) FROM submissions") == [(1,)]

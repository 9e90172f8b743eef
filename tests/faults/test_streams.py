"""Event streams over HTTP: cut, crowded, and open while the website is stopped. No reader misses an event."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fault_parts import Workers
from served_site import Answer, RunningSite, ServerEvent, find_free_port

pytestmark = pytest.mark.slow

STREAMS = 40
CUT_SECONDS = 0.5


@pytest.fixture
def site(tmp_path: Path, database_url: str) -> Iterator[RunningSite]:
    """The website alone: a test starts a worker when it wants one."""
    site = RunningSite(tmp_path, database_url, find_free_port(), "site")
    try:
        site.wait_until_it_answers()
        yield site
    finally:
        site.close()


@pytest.fixture
def workers(site: RunningSite) -> Iterator[Workers]:
    workers = Workers(site.data, site.url)
    yield workers
    workers.end_workers()


def hand_in(site: RunningSite, source: str) -> Answer:
    answer = Answer(source)
    assert answer.send(site.port)
    return answer


def expect_whole_story(events: list[ServerEvent]) -> None:
    """Each once, in order, from the first to the verdict."""
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.kind for event in events][:2] == ["queued", "started"]
    assert [event.kind for event in events].count("finished") == 1
    assert events[-1].kind == "finished"


def test_a_stream_that_is_cut_every_half_second_tells_every_event_once(site: RunningSite, workers: Workers) -> None:
    workers.start_worker("w")
    answer = hand_in(site, "count 40 0.1")
    events: list[ServerEvent] = []
    cuts = 0
    until = time.monotonic() + 60
    while not (events and events[-1].kind == "finished"):
        assert time.monotonic() < until
        stream = answer.open_stream(site.port, after=events[-1].seq if events else 0)
        cutting = threading.Timer(CUT_SECONDS, stream.cut)
        cutting.start()
        events += stream.read()
        cutting.cancel()
        cutting.join()
        stream.close()
        cuts += 1
    expect_whole_story(events)
    printed = "".join(json.loads(event.data)["text"] for event in events if event.kind == "output")
    assert printed == "".join(f"{number} " for number in range(40))
    assert cuts > 4


def test_forty_waiting_streams_leave_the_pages_their_database(site: RunningSite, workers: Workers) -> None:
    answer = hand_in(site, "")
    streams = [answer.open_stream(site.port) for _ in range(STREAMS)]
    for path in ("/", "/chapters/a-first-graph", "/exercises/double", "/me") * 3:
        assert site.get(path, answer.cookie) == 200
    assert hand_in(site, "").id
    workers.start_worker("w")
    for stream in streams:
        expect_whole_story(list(stream.read()))
        stream.close()


def test_streams_end_when_the_website_stops_and_go_on_with_the_next(site: RunningSite, workers: Workers) -> None:
    answer = hand_in(site, "")
    streams = [answer.open_stream(site.port) for _ in range(STREAMS)]
    started = time.monotonic()
    site.stop()
    assert time.monotonic() - started < 15
    told = [list(stream.read()) for stream in streams]
    for stream in streams:
        stream.close()
    assert {tuple(event.kind for event in events) for events in told} == {("queued",)}
    following = RunningSite(site.data, site.url, site.port, "site")
    try:
        following.wait_until_it_answers()
        workers.start_worker("w")
        rest = answer.open_stream(site.port, after=1)
        expect_whole_story(told[0] + list(rest.read()))
        rest.close()
    finally:
        following.close()


def test_a_first_answer_that_never_arrived_is_handed_in_again_by_a_reader_without_a_cookie(
    site: RunningSite, workers: Workers
) -> None:
    """The key belongs to its learner: who has lost the cookie is someone else, and gets a verdict of their own."""
    workers.start_worker("w")
    unheard = hand_in(site, "")
    again = Answer("", key=unheard.key)
    assert again.send(site.port)
    assert again.id != unheard.id
    assert again.follow(site.port)[-1] == unheard.follow(site.port)[-1] == "finished"
    assert site.get(f"/api/submissions/{unheard.id}", again.cookie) == 404

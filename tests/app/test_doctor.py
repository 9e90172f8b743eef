"""The doctor finds what is wrong with an installation, says the remedy, and finds nothing wrong where nothing is."""

import asyncio
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from app.doctor import Finding, Level, examine_clock, examine_proxy, main
from app.publishing import read_exercise_digests
from app.settings import Settings
from app.storage.database import migrate
from graders.contract.hello import WorkerHello
from graders.contract.jobs import Flavour, GradeJob, Queue, RunJob
from graders.contract.model import ExerciseName, LearnerId
from graders.ledger import Ledger, open_ledger
from graders.ledger.tables import submissions, workers

pytestmark = pytest.mark.slow

COURSE = Path(__file__).resolve().parents[1] / "course"
EARLIER = {name: (digest,) for name, digest in read_exercise_digests(COURSE).items()}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings(data=tmp_path / "data", course=COURSE)
    migrate(settings.database, settings.data)
    return settings


def hello(**other: Any) -> WorkerHello:
    values = {
        "worker": "host-1",
        "queue": Queue.CPU,
        "slots": 2,
        "flavours": (Flavour.PLAIN,),
        "profile": "P2",
        "memory_cgroup": True,
        "python": "3.11",
        "torch": "2.13.0",
        "device": "cpu",
        "self_test_passed": 40,
        "self_test_total": 40,
        "exercises": read_exercise_digests(COURSE),
    }
    return WorkerHello(**{**values, **other})


async def examined(settings: Settings, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    """The exit status, and the lines of what is not fine."""
    status = await asyncio.to_thread(main, [], settings)
    return status, [line for line in capsys.readouterr().out.splitlines() if not line.startswith("fine")]


@contextmanager
def opened(settings: Settings) -> Iterator[Ledger]:
    yield open_ledger(settings.database, settings.wakeups_folder)


async def test_an_installation_with_a_grader_that_has_the_same_exercises_is_well(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(settings) as ledger:
        await ledger.say_hello(hello())
        assert await examined(settings, capsys) == (0, [])
        await ledger.close()


@pytest.mark.parametrize(
    ("other", "status", "words"),
    [
        ({"profile": "P3"}, 0, "confines code as P3: docs/operating.md says what P2 needs"),
        ({"memory_cgroup": False}, 0, "no memory cgroup"),
        ({"self_test_passed": 38}, 1, "failed 2 of its own tests"),
        ({"exercises": {}}, 1, "has another version of"),
        ({"exercises": None, "profile": "P1"}, 0, ""),
        ({"exercises": {}, "earlier_exercises": EARLIER}, 0, ""),
    ],
)
async def test_what_is_wrong_with_a_grader_is_said(
    settings: Settings, capsys: pytest.CaptureFixture[str], other: dict[str, Any], status: int, words: str
) -> None:
    with opened(settings) as ledger:
        await ledger.say_hello(hello(**other))
        found, lines = await examined(settings, capsys)
        await ledger.close()
    assert found == status
    assert len(lines) == bool(words)
    assert words in "".join(lines)


async def test_a_site_without_a_grader_and_one_whose_grader_went_silent(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    status, (line,) = await examined(settings, capsys)
    assert status == 1
    assert line == "wrong    no grader has reported lately: start one with `python -m graders worker`"
    with opened(settings) as ledger:
        await ledger.say_hello(hello())
        long_ago = update(workers).values(seen_at=workers.c.seen_at - 120)
        await ledger.database.write(lambda connection: connection.execute(long_ago))
        _, lines = await examined(settings, capsys)
        await ledger.close()
    assert lines[1] == "warning  the grader host-1 has gone silent: if it should run, look at its log"


async def test_a_queue_whose_first_has_waited_for_long_is_named(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(settings) as ledger:
        await ledger.say_hello(hello())
        await ledger.submit(LearnerId("ann"), "t", GradeJob(exercise=ExerciseName("double"), source=""))
        assert await examined(settings, capsys) == (0, [])
        earlier = update(submissions).values(submitted_at=submissions.c.submitted_at - 300)
        await ledger.database.write(lambda connection: connection.execute(earlier))
        status, (line,) = await examined(settings, capsys)
        await ledger.close()
    assert status == 0
    assert "the queue cpu has 1 waiting and 0 running, the first for 30" in line


async def test_what_no_grader_can_judge_is_named_with_the_remedy(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    other = GradeJob(exercise=ExerciseName("double"), source="", exercise_digest="0" * 16)
    with opened(settings) as ledger:
        await ledger.say_hello(hello())
        await ledger.submit(LearnerId("ann"), "t", other)
        await ledger.submit(LearnerId("ann"), "u", RunJob(source="1"), Queue.GPU)
        status, lines = await examined(settings, capsys)
        await ledger.close()
    assert status == 1
    told = ["none serves it: start one with `python -m graders worker --queue gpu`"]
    told.append(f"none has version {'0' * 16} of double: give one the website's course")
    assert [line.partition(", and ")[2] for line in lines] == told
    assert [line.split()[:2] for line in lines] == [["wrong", "1"]] * 2


async def test_what_all_graders_are_too_old_for_is_named_with_the_remedy(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    with opened(settings) as ledger:
        accepted = await ledger.submit(LearnerId("ann"), "t", RunJob(source="1"))
        await ledger.say_hello(hello().model_copy(update={"refused": (accepted.id,)}))
        status, lines = await examined(settings, capsys)
        await ledger.close()
    assert status == 1
    told = ["all are older than the website that wrote these: give them its version of Unwind"]
    assert [line.partition(", and ")[2] for line in lines] == told


async def test_a_database_that_is_missing_damaged_or_old_is_told_apart(
    tmp_path: Path, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    status, lines = await examined(Settings(data=tmp_path / "new", course=COURSE), capsys)
    assert (status, "run `python -m app migrate`" in lines[-1]) == (1, True)
    assert not (tmp_path / "new" / "unwind.sqlite3").exists()
    (settings.data / "unwind.sqlite3").write_bytes(b"not a database at all" * 500)
    status, lines = await examined(settings, capsys)
    assert (status, "cannot be used" in lines[-1]) == (1, True)


async def test_a_disk_that_is_nearly_full_and_a_course_that_cannot_be_read(
    settings: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage._replace(free=500 << 20))
    empty = settings.model_copy(update={"course": tmp_path})
    status, lines = await examined(empty, capsys)
    assert status == 1
    assert "course.toml does not exist" in lines[0]
    assert "has 500 MiB left: make room soon" in lines[1]


def test_a_clock_that_is_apart_from_the_database_s_is_said_with_its_direction() -> None:
    assert examine_clock(100.0, 101.0).level is Level.FINE
    assert "is 60 s ahead of the database's" in examine_clock(100.0, 160.0).words
    assert "is 60 s behind the database's" in examine_clock(160.0, 100.0).words


@contextmanager
def proxy(*, holds_back: bool) -> Iterator[str]:
    """Answers as the site does to a run that prints, sleeps and prints, through a proxy that may hold it back."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.end_headers()
            told = [b"event: accepted\ndata: {}\n\n", b"event: output\ndata: {}\n\n", b"event: done\ndata: {}\n\n"]
            for event in [b"".join(told)] if holds_back else told:
                if event == told[-1] or holds_back:
                    time.sleep(1.0)
                self.wfile.write(event)
                self.wfile.flush()

        def log_message(self, format: str, *arguments: object) -> None:
            """Not here."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_proxy_that_holds_event_streams_back_is_found() -> None:
    with proxy(holds_back=True) as url:
        (found,) = examine_proxy(url)
    assert found.level is Level.WRONG
    assert "nginx: proxy_buffering off" in found.words
    with proxy(holds_back=False) as url:
        assert examine_proxy(url) == [Finding(Level.FINE, f"events arrive through {url} while a run is going on")]
    (gone,) = examine_proxy(url)
    assert gone.level is Level.WRONG
    assert "check the address" in gone.words

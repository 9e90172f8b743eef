"""Processes that draw: their limits, their deaths, and the answers that callers get."""

import asyncio
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from picture_parts import load_recorded, sketch_chain
from test_budget import sketch_dense, sketch_stack
from test_hostile_traces import all_keys

from app.drawing.answer import answer_task
from app.drawing.drawer import LOG_ROOM_BYTES
from app.drawing.pool import BUSY, BUSY_WITH_YOURS, DIED, LATE, Drawers, End, Limits
from app.drawing.tasks import DrawPicture, NotDrawn, WriteWhole

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
SMALL = load_recorded("diamond")[0].model_dump_json().encode()
LARGE = sketch_chain(9_000).trace().model_dump_json().encode()
SMALL_PROCESS_BYTES = 40 * 2**20
PICTURE = DrawPicture(source="", id_prefix="g")
WHOLE = WriteWhole(source="")


def picture(number: int) -> DrawPicture:
    """Each number is another picture."""
    return DrawPicture(source=f"x = {number}", id_prefix="g")


class Pool(Drawers):
    """Counts how its tasks ended."""

    def __init__(self, processes: int = 1, limits: Limits | None = None) -> None:
        self.ends = Counter[End]()
        super().__init__(processes, limits, lambda end: self.ends.update([end]))


@pytest.fixture
async def pool() -> AsyncIterator[Pool]:
    pool = Pool()
    yield pool
    await pool.close()


def find_drawing(pool: Pool) -> int | None:
    """The process that has begun a large picture: it is larger than one that has not."""
    for pid in pool.pids:
        resident_bytes = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
        if resident_bytes > SMALL_PROCESS_BYTES:
            return pid
    return None


async def wait_until_drawing(pool: Pool) -> int:
    def look() -> int:
        while (pid := find_drawing(pool)) is None:
            time.sleep(0.005)
        return pid

    return await asyncio.to_thread(look)


async def test_a_process_answers_what_this_one_would(pool: Pool) -> None:
    assert await pool.ask(PICTURE, SMALL) == answer_task(PICTURE, SMALL)


async def test_no_process_starts_before_one_is_needed_and_a_second_only_beside_a_busy_one() -> None:
    pool = Pool(processes=2)
    assert pool.pids == ()
    for number in range(3):
        await pool.ask(picture(number), SMALL)
    assert len(pool.pids) == 1
    await asyncio.gather(*(pool.ask(picture(number), SMALL) for number in range(3, 6)))
    assert len(pool.pids) == 2
    await pool.close()
    assert pool.pids == ()


async def test_a_process_can_be_started_before_its_first_picture(pool: Pool) -> None:
    pool.warm()
    assert await pool.ask(PICTURE, SMALL)
    assert len(pool.pids) == 1


async def test_the_same_picture_is_drawn_once_for_all_who_ask_at_once_and_then_kept(pool: Pool) -> None:
    answers = await asyncio.gather(*(pool.ask(PICTURE, SMALL) for _ in range(6)))
    answers.append(await pool.ask(PICTURE, SMALL))

    assert len(set(answers)) == 1
    assert pool.ends == {End.DRAWN: 1, End.KEPT: 1}


async def test_a_refusal_is_a_sentence_and_is_kept(pool: Pool) -> None:
    graph = sketch_dense(300)
    task = DrawPicture(source="", id_prefix="g", opened=tuple(sorted(all_keys(graph))))
    document = graph.trace.model_dump_json().encode()
    for _ in range(2):
        with pytest.raises(NotDrawn, match=r"^This graph is too large to draw: more than 3,000 lines"):
            await pool.ask(task, document)

    assert pool.ends == {End.REFUSED: 1, End.KEPT: 1}
    assert await pool.ask(PICTURE, SMALL)


async def test_six_hostile_traces_at_once_leave_the_pool_drawing() -> None:
    pool = Pool(processes=2)
    stack, dense = sketch_stack(6_000), sketch_dense(300)
    opened = DrawPicture(source="", id_prefix="g", opened=tuple(sorted(all_keys(dense))))
    asked = [pool.ask(picture(number), stack.trace.model_dump_json().encode()) for number in range(3)]
    asked += [
        pool.ask(opened.model_copy(update={"step": number}), dense.trace.model_dump_json().encode())
        for number in range(3)
    ]
    asked.append(pool.ask(PICTURE, SMALL))

    answers = await asyncio.gather(*asked, return_exceptions=True)

    assert [type(answer) for answer in answers] == [bytes] * 3 + [NotDrawn] * 3 + [bytes]
    await pool.close()


async def test_a_picture_over_its_time_is_refused_and_a_fresh_process_draws_the_next() -> None:
    pool = Pool(limits=Limits(cpu_seconds=0.05))
    with pytest.raises(NotDrawn, match=r"^This graph is too large to draw: its picture takes more than 0.05 s"):
        await pool.ask(WHOLE, LARGE)

    assert pool.pids == ()
    assert await pool.ask(PICTURE, SMALL)
    with pytest.raises(NotDrawn):
        await pool.ask(WHOLE, LARGE)
    assert pool.ends == {End.OVER_TIME: 1, End.DRAWN: 1, End.KEPT: 1}
    await pool.close()


async def test_time_is_counted_for_each_picture_anew() -> None:
    """Together they take far more than one may."""
    pool = Pool(limits=Limits(cpu_seconds=0.5))
    for number in range(400):
        await pool.ask(picture(number), SMALL)

    assert pool.ends == {End.DRAWN: 400}
    await pool.close()


async def test_a_picture_over_its_memory_is_refused_and_a_fresh_process_draws_the_next() -> None:
    pool = Pool(limits=Limits(memory_mib=56))
    with pytest.raises(NotDrawn, match=r"^This graph is too large to draw: its picture takes more than 56 MiB"):
        await pool.ask(WHOLE, LARGE)

    assert await pool.ask(PICTURE, SMALL)
    assert pool.ends == {End.OVER_MEMORY: 1, End.DRAWN: 1}
    await pool.close()


async def test_a_process_that_does_not_answer_in_time_is_killed_and_its_picture_may_be_asked_for_again() -> None:
    pool = Pool(limits=Limits(wall_seconds=0.3))
    starting = pool.warm()
    assert starting is not None
    await starting
    (pid,) = pool.pids
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(NotDrawn) as refused:
        await pool.ask(picture(1), SMALL)

    assert (str(refused.value), refused.value.final) == (LATE, False)
    assert pid not in pool.pids
    await pool.close()


async def test_a_process_killed_while_it_draws_costs_that_picture_and_nothing_else(pool: Pool) -> None:
    asking = asyncio.create_task(pool.ask(WHOLE, LARGE))
    os.kill(await wait_until_drawing(pool), signal.SIGKILL)
    with pytest.raises(NotDrawn) as refused:
        await asking

    assert (str(refused.value), refused.value.final) == (DIED, False)
    assert await pool.ask(WHOLE, LARGE)
    assert pool.ends == {End.DIED: 1, End.DRAWN: 1}


async def test_a_process_killed_between_pictures_costs_nothing(pool: Pool) -> None:
    await pool.ask(PICTURE, SMALL)
    (pid,) = pool.pids
    os.kill(pid, signal.SIGKILL)
    handle = os.pidfd_open(pid)
    await asyncio.to_thread(select.select, [handle], [], [], 60)
    os.close(handle)

    assert await pool.ask(picture(1), SMALL)
    assert pool.ends == {End.DRAWN: 2}


async def test_a_process_ends_after_so_many_pictures_and_another_follows() -> None:
    pool = Pool(limits=Limits(pictures_per_process=2))
    pids = set[int]()
    for number in range(5):
        await pool.ask(picture(number), SMALL)
        pids.update(pool.pids)

    assert len(pids) == 3
    await pool.close()


async def test_a_line_of_so_many_takes_no_more_and_says_so() -> None:
    pool = Pool(limits=Limits(waiting=3))
    asked = [pool.ask(picture(number), SMALL, f"learner {number}") for number in range(5)]
    answers = await asyncio.gather(*asked, return_exceptions=True)

    assert sum(isinstance(answer, bytes) for answer in answers) == 3
    assert {str(answer) for answer in answers if isinstance(answer, NotDrawn)} == {BUSY}
    assert await pool.ask(picture(9), SMALL)
    await pool.close()


async def test_a_line_of_so_many_bytes_takes_no_more() -> None:
    pool = Pool(limits=Limits(waiting_bytes=len(SMALL) + 1))
    asked = [pool.ask(picture(number), SMALL) for number in range(2)]
    answers = await asyncio.gather(*asked, return_exceptions=True)

    assert [type(answer) for answer in answers] == [bytes, NotDrawn]
    assert str(answers[1]) == BUSY
    assert await pool.ask(picture(9), SMALL)
    await pool.close()


async def test_one_reader_cannot_fill_the_line() -> None:
    pool = Pool(limits=Limits(waiting_each=2))
    greedy = [pool.ask(picture(number), SMALL, "greedy") for number in range(5)]
    answers = await asyncio.gather(*greedy, pool.ask(picture(9), SMALL, "honest"), return_exceptions=True)

    assert sum(isinstance(answer, bytes) for answer in answers[:5]) == 2
    assert {str(answer) for answer in answers[:5] if isinstance(answer, NotDrawn)} == {BUSY_WITH_YOURS}
    assert isinstance(answers[5], bytes)
    await pool.close()


async def test_whoever_leaves_does_not_end_a_picture_that_another_waits_for(pool: Pool) -> None:
    leaving = asyncio.create_task(pool.ask(WHOLE, LARGE))
    await wait_until_drawing(pool)
    staying = asyncio.create_task(pool.ask(WHOLE, LARGE))
    await asyncio.sleep(0)
    leaving.cancel()

    assert await staying
    assert leaving.cancelled()


async def test_a_process_has_three_descriptors_no_environment_a_private_mask_and_limits(pool: Pool) -> None:
    await pool.ask(PICTURE, SMALL)
    (pid,) = pool.pids
    process = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    limits = {line[:26].strip(): line[26:].split()[0] for line in (process / "limits").read_text().splitlines()[1:]}

    assert sorted(path.name for path in (process / "fd").iterdir()) == ["0", "1", "2"]
    assert b"UNWIND" not in (process / "environ").read_bytes()
    assert status["Umask"].strip() == "0077"
    assert limits["Max address space"] == str(256 * 2**20)
    assert limits["Max core file size"] == "0"


WARNING = """
import logging, os, resource
from app.drawing.drawer import confine
from graders.contract.log_lines import set_up_logging
confine(os.getppid(), 256)
set_up_logging("drawing", logging.WARNING)
logging.getLogger("a").warning("a picture failed")
print(resource.getrlimit(resource.RLIMIT_FSIZE)[0])
"""


def test_a_process_may_write_to_no_file_but_the_websites_log(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("older lines\n")
    command = [sys.executable, "-c", WARNING]
    with (tmp_path / "log").open("a") as log:
        to_file = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True, check=True)
    to_pipe = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    assert "a picture failed" in (tmp_path / "log").read_text()
    assert (int(to_file.stdout), int(to_pipe.stdout)) == (LOG_ROOM_BYTES + len("older lines\n"), 0)
    assert "a picture failed" in to_pipe.stderr


def test_a_process_imports_no_server_and_no_database() -> None:
    code = "import sys, app.drawing.drawer; print([m for m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert "'app.pictures'" in loaded
    for module in ("asyncio", "fastapi", "starlette", "uvicorn", "sqlalchemy", "sqlite3", "jinja2", "plotly"):
        assert f"'{module}'" not in loaded


ORPHAN = """
import asyncio, json, sys
from app.drawing.drawer import LOG_ROOM_BYTES
from app.drawing.pool import Drawers
from app.drawing.tasks import DrawPicture, WriteWhole

async def main():
    drawers = Drawers(1)
    await drawers.ask(DrawPicture(source="", id_prefix="g"), open(sys.argv[1], "rb").read())
    print(json.dumps(drawers.pids), flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


def test_the_processes_die_with_their_website_however_it_ends(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_bytes(SMALL)
    command = [sys.executable, "-c", ORPHAN, str(tmp_path / "trace.json")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as website:
        assert website.stdout is not None
        (pid,) = json.loads(website.stdout.readline())
        handle = os.pidfd_open(pid)
        # Stopped, it cannot read the end of its input: only the kernel ends it.
        os.kill(pid, signal.SIGSTOP)
        website.kill()
        assert select.select([handle], [], [], 60)[0], "it outlived its website"
        os.close(handle)

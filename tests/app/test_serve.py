"""The supervisor keeps its parts alive, stops them in order, and never leaves one behind."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from app.preflight import CannotServe
from app.serve import Part, SeenGrader, Supervisor
from app.settings import Settings
from app.storage.database import migrate
from graders.contract.hello import WorkerHello, name_worker
from graders.ledger import open_ledger

ROOT = Path(__file__).resolve().parents[2]


async def at_once(pid: int) -> bool:
    return True


async def never(pid: int) -> bool:
    return False


def part(*command: str, ready: object = at_once, meanwhile: str = "") -> Part:
    return Part("part", command, signal.SIGKILL, ready, meanwhile)


def write_pid(file: Path, then: str) -> str:
    return f"echo $$ >> {file}; {then}"


async def wait_for_lines(file: Path, count: int) -> list[int]:
    async with asyncio.timeout(20):
        while not file.exists() or len(file.read_text().split()) < count:  # noqa: ASYNC110, ASYNC240
            await asyncio.sleep(0.02)
    return [int(line) for line in file.read_text().split()]  # noqa: ASYNC240


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


async def test_a_part_that_dies_is_started_again_and_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    supervisor = Supervisor()
    keeping = await supervisor.start(part("sh", "-c", write_pid(tmp_path / "pids", "exec sleep 60")))
    first, *_ = await wait_for_lines(tmp_path / "pids", 1)
    os.kill(first, signal.SIGKILL)
    _, second = await wait_for_lines(tmp_path / "pids", 2)
    supervisor.stopping.set()
    await supervisor.stop()
    await keeping
    assert not is_alive(second)
    assert "The part died (signal 9); it starts again in 0.5 s." in capsys.readouterr().out


async def test_a_part_is_started_again_even_if_the_machine_first_has_no_room_for_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.serve.FIRST_PAUSE_SECONDS", 0.05)
    supervisor = Supervisor()
    keeping = await supervisor.start(part("sh", "-c", write_pid(tmp_path / "pids", "exec sleep 60")))
    first, *_ = await wait_for_lines(tmp_path / "pids", 1)
    spawn, refusals = asyncio.create_subprocess_exec, [OSError("no memory"), subprocess.SubprocessError("no fork")]

    async def refuse_twice(*command: str, **options: object) -> asyncio.subprocess.Process:
        if refusals:
            raise refusals.pop(0)
        return await spawn(*command, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("asyncio.create_subprocess_exec", refuse_twice)
    os.kill(first, signal.SIGKILL)
    _, second = await wait_for_lines(tmp_path / "pids", 2)
    supervisor.stopping.set()
    await supervisor.stop()
    await keeping
    assert not is_alive(second)
    said = "No process could be made for the part ({}). It is tried again in {} s."
    assert capsys.readouterr().out.splitlines()[1:] == [
        said.format("no memory", "0.05"),
        said.format("no fork", "0.1"),
    ]


async def test_a_database_that_cannot_be_read_is_no_end_of_looking_for_the_grader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = SeenGrader(Settings(data=tmp_path))  # no migration has run: there is no table of workers
    assert not await seen.is_ready(1)
    await seen.close()


def hello_of(worker: str) -> WorkerHello:
    return WorkerHello(
        **{"worker": worker, "queue": "cpu", "slots": 1, "flavours": ("plain",), "profile": "P2", "torch": ""},
        **{"memory_cgroup": False, "python": "3.11", "device": "cpu", "self_test_passed": 1, "self_test_total": 1},
    )


async def test_only_a_new_hello_under_the_graders_own_name_says_that_it_is_ready(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    migrate(settings.database, settings.data)
    seen, ledger = SeenGrader(settings), open_ledger(settings.database, settings.wakeups_folder)
    name = name_worker(socket.gethostname(), 23)
    ready = []
    # One of another machine, one whose process number ends alike, one of an earlier process of the same number.
    for worker in ("elsewhere-23", f"{socket.gethostname()}-1-23", name):
        await ledger.say_hello(hello_of(worker))
    ready += [await seen.is_ready(23), await seen.is_ready(23)]
    await ledger.say_hello(hello_of(name))
    ready.append(await seen.is_ready(23))
    await seen.close()
    await ledger.close()

    assert (ready, seen.hello and seen.hello.worker) == ([False, False, True], name)


async def test_a_part_that_cannot_start_is_an_error_and_no_loop() -> None:
    with pytest.raises(CannotServe, match=r"The part did not start \(exit status 3\)"):
        await Supervisor().start(part("sh", "-c", "exit 3", ready=never))


async def test_a_part_that_others_can_do_without_is_tried_again_until_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.serve.FIRST_RETRY_SECONDS", 0.1)
    monkeypatch.setattr("app.serve.LOOK_SECONDS", 0.02)
    pids, enough = tmp_path / "pids", 3

    async def is_third(pid: int) -> bool:
        return pids.exists() and len(pids.read_text().split()) == enough

    fails_twice = write_pid(pids, f"test $(wc -l < {pids}) -lt {enough} && exit 2; exec sleep 60")
    supervisor = Supervisor()
    keeping = await supervisor.start(part("sh", "-c", fails_twice, ready=is_third, meanwhile="The others go on."))
    *_, last = await wait_for_lines(pids, enough)
    said = ""
    async with asyncio.timeout(10):
        while "The part serves now." not in (said := said + capsys.readouterr().out):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    supervisor.stopping.set()
    await supervisor.stop()
    await keeping
    failed = "The part did not start (exit status 2); its messages above say why. It tries again in {} s."
    failures = [f"{failed.format(seconds)} The others go on." for seconds in ("0.1", "0.2")]
    assert said.splitlines() == [*failures, "The part serves now."]
    assert not is_alive(last)


async def test_a_part_that_ignores_the_request_to_stop_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.serve.STOP_SECONDS", 0.3)
    supervisor = Supervisor()
    stubborn = write_pid(tmp_path / "pids", "trap '' TERM; while true; do sleep 0.05; done")
    keeping = await supervisor.start(part("sh", "-c", stubborn))
    (pid,) = await wait_for_lines(tmp_path / "pids", 1)
    await asyncio.sleep(0.1)
    supervisor.stopping.set()
    await supervisor.stop()
    await keeping
    assert not is_alive(pid)
    assert "did not stop in time, so it is killed" in capsys.readouterr().out


SUPERVISE = """
import asyncio, signal, sys
from app.serve import Part, Supervisor

async def at_once(pid):
    return True

async def main():
    await Supervisor().start(Part("part", ("sh", "-c", sys.argv[1]), signal.SIGKILL, at_once))
    await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_parts_die_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    script = write_pid(tmp_path / "pids", "exec sleep 60")
    supervisor = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SUPERVISE, script, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    (pid,) = await wait_for_lines(tmp_path / "pids", 1)
    assert is_alive(pid)
    supervisor.kill()
    await supervisor.wait()
    async with asyncio.timeout(10):
        while is_alive(pid):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("command", ["serve", "site"])
@pytest.mark.parametrize("variables", [{"UNWIND_DATA": "/proc/nowhere"}, {"UNWIND_HOST": "192.0.2.1"}])
def test_the_command_says_in_one_sentence_what_is_missing(
    tmp_path: Path, variables: dict[str, str], command: str
) -> None:
    settings = {"UNWIND_DATA": str(tmp_path), "UNWIND_PORT": "0", **variables}
    served = subprocess.run(
        [sys.executable, "-m", "app", command],
        cwd=ROOT,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (served.returncode, served.stderr) == (1, "")
    assert len(served.stdout.splitlines()) == 1


@pytest.mark.slow
async def test_the_website_alone_serves_migrated_and_ends_when_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {"UNWIND_DATA": str(tmp_path), "UNWIND_PORT": str(port), "UNWIND_COURSE": str(ROOT / "tests/course")}
    website = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "app", "site", cwd=ROOT, env={**os.environ, **settings}, stdout=subprocess.PIPE
    )
    async with asyncio.timeout(60):
        # 503: the database answers, and no grader was ever heard of.
        while await ask(port, "/readyz") != b"HTTP/1.1 503 Service Unavailable\r\n":  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        website.terminate()
        said, _ = await website.communicate()
    assert said.decode().splitlines() == [f"The website starts at http://127.0.0.1:{port}. Start graders separately."]
    assert website.returncode == -signal.SIGTERM


async def ask(port: int, path: str) -> bytes:
    """The first line of the answer; empty while no server listens."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return b""
    writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    line = await reader.readline()
    writer.close()
    await writer.wait_closed()
    return line

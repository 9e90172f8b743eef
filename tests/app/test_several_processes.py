"""The website as several processes: one dies with an open stream, another goes on with it, and all stop when told."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
async def test_a_stream_goes_on_at_another_process_when_its_own_dies(tmp_path: Path, database_url: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {"UNWIND_DATA": str(tmp_path), "UNWIND_PORT": str(port), "UNWIND_COURSE": str(ROOT / "tests/course")}
    settings |= {"UNWIND_DATABASE_URL": database_url}
    command = (sys.executable, "-m", "app", "site", "--workers", "2")
    site = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, env={**os.environ, **settings}, stdout=asyncio.subprocess.PIPE
    )
    assert site.stdout is not None
    async with asyncio.timeout(90), httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as browser:
        assert b"is open at" in await site.stdout.readline()
        answer = await browser.post(
            "/api/exercises/double/submissions", json={"source": "x = 1", "idempotency_key": "one-key-of-mine"}
        )
        events = answer.json()["events"]
        async with browser.stream("GET", events) as stream:
            lines = stream.aiter_lines()
            seen = await find_id(lines)
            os.kill(find_pid(site.pid, await find_busy(browser)), signal.SIGKILL)
            with pytest.raises((httpx2.RemoteProtocolError, EOFError)):
                await find_id(lines)
        async with browser.stream("GET", events, headers={"last-event-id": seen}) as stream:
            assert stream.status_code == 200
            await browser.post(f"/api/submissions/{answer.json()['id']}/stop")
            told = [line async for line in stream.aiter_lines() if line.startswith("event:")]
        site.send_signal(signal.SIGTERM)
        said, _ = await site.communicate()
    assert told == ["event: finished"]
    assert site.returncode == 0
    assert re.fullmatch(r"The website \d died \(signal 9\); .*\nStopping\.\n", said.decode())


async def find_id(lines: AsyncIterator[str]) -> str:
    """Of the next event."""
    async for line in lines:
        if line.startswith("id: "):
            return line.removeprefix("id: ")
    raise EOFError


async def find_busy(browser: httpx2.AsyncClient) -> str:
    """The number of the process with an open stream."""
    (number,) = re.findall(r'unwind_open_streams\{process="(\d)"\} 1', (await browser.get("/metrics")).text)
    return str(number)


def find_pid(supervisor: int, number: str) -> int:
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    wanted = f"--process\0{number}\0".encode()
    (pid,) = [pid for pid in children if wanted in Path(f"/proc/{pid}/cmdline").read_bytes()]
    return int(pid)


@pytest.mark.parametrize("count", ["0", "two", "65"])
def test_a_number_of_workers_that_makes_no_sense_is_refused(count: str) -> None:
    command = [sys.executable, "-m", "app", "site", "--workers", count]
    refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert refused.returncode == 2
    assert f"'{count}' is not a number from 1 to 64" in refused.stderr

"""The website's own process: what it keeps open, what it believes, and how it stops."""

import asyncio
import contextlib
import gc
import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.types import Message, Receive, Scope, Send
from uvicorn.server import ServerState

from app import server
from app.settings import Settings
from app.storage.database import migrate
from app.web.edge.metrics import MeasureRequests, Metrics, Seen
from app.web.edge.sizes import Sizes

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "tests" / "course"


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.fixture
def site(tmp_path: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    settings = Settings(data=tmp_path)
    migrate(settings.database, settings.data)
    variables = {"UNWIND_DATA": str(tmp_path), "UNWIND_COURSE": str(COURSE), "UNWIND_PORT": str(port)}
    variables["UNWIND_RATE_FACTOR"] = "0.01"
    patience = "import app.server as s, sys; s.HEADER_SECONDS = 1.0; sys.exit(s.main())"
    process = subprocess.Popen(
        [sys.executable, "-c", patience],
        cwd=ROOT,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    until = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5).close()
            break
        except OSError:
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


def post(port: int, path: str, body: dict[str, str], **headers: str) -> int:
    asked = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json", **headers},
    )
    try:
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        refused.close()
        return refused.code


@pytest.mark.slow
def test_a_forged_address_is_not_believed(site: subprocess.Popen[str], port: int) -> None:
    """Without a trusted proxy the limits of an address count the connection's own, whatever a header says."""
    statuses = {
        post(port, "/api/exercises/double/checks", {"source": "x", "idempotency_key": secrets.token_hex(8)}, **forged)
        for number in range(60)
        if (forged := {"X-Forwarded-For": f"198.51.100.{number % 250}"})
    }

    assert 429 in statuses


@pytest.mark.slow
def test_headers_that_never_end_are_dropped(site: subprocess.Popen[str], port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as half:
        half.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")

        assert half.recv(100) == b""


def begin_run(port: int) -> socket.socket:
    """The connection of a run. It sends at once, because this site drops one whose headers take over a second."""
    stream = socket.create_connection(("127.0.0.1", port), timeout=60)
    body = json.dumps({"source": "print(1)"}).encode()
    head = f"POST /api/runs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    stream.sendall(f"{head}\r\n\r\n".encode() + body)
    return stream


@pytest.mark.slow
def test_a_stop_with_open_streams_is_quiet_and_ends_them(site: subprocess.Popen[str], port: int) -> None:
    with contextlib.ExitStack() as opened:
        streams = [opened.enter_context(begin_run(port)) for _ in range(5)]
        for stream in streams:
            assert b"200 OK" in stream.recv(4096)

        site.send_signal(signal.SIGTERM)
        said, _ = site.communicate(timeout=60)

        for stream in streams:
            while stream.recv(65536):
                pass
    assert said == ""


def test_an_idle_connection_outlives_a_proxy_s(tmp_path: Path) -> None:
    """The proxies of docs/operating.md close theirs after 60 s; ours must not be first."""
    settings = Settings(data=tmp_path, course=COURSE)

    assert server.make_config(server.create_app(settings), settings).timeout_keep_alive > 60


def test_nobody_else_on_the_machine_reads_what_learners_wrote(tmp_path: Path) -> None:
    data = tmp_path / "data"
    environment = {**os.environ, "UNWIND_DATA": str(data)}
    subprocess.run([sys.executable, "-m", "app", "migrate"], cwd=ROOT, env=environment, check=True)

    made = [data, *data.rglob("*")]
    assert data / "unwind.sqlite3" in made
    assert [path for path in made if path.stat().st_mode & 0o077] == []


async def test_methods_that_clients_invent_are_one_series() -> None:
    metrics = Metrics()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 405, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        return

    for number in range(20):
        await MeasureRequests(answer, metrics)({"type": "http", "method": f"ZZ{number}"}, receive, send)

    text = metrics.render(Seen({}, (), (), Sizes(0, 0, 0))).decode()
    counted = re.findall(r'duration_seconds_count\{http_request_method="([^"]*)"', text)
    assert counted == ["_OTHER"]


async def test_a_request_that_was_sent_before_the_last_answer_came_may_take_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.server.HEADER_SECONDS", 0.05)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0.4 if scope["path"] == "/slow" else 0)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"done"})

    config = uvicorn.Config(answer, timeout_keep_alive=0, log_config=None)
    config.load()
    listening = await asyncio.get_running_loop().create_server(
        lambda: server.PunctualProtocol(config, ServerState(), {}), "127.0.0.1", 0
    )
    async with listening, asyncio.timeout(20):
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        for path in ("/quick", "/slow"):
            writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        answers = await reader.read()
        writer.close()
    assert answers.count(b"done") == 2


def test_the_garbage_collector_looks_no_more_at_what_the_site_has_loaded() -> None:
    loaded: list[list[int]] = [[]]
    try:
        server.keep_what_is_loaded()

        assert gc.is_tracked(loaded)
        assert all(one is not loaded for one in gc.get_objects())
    finally:
        gc.unfreeze()

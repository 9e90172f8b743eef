"""How long the site takes for a page, in this process: no network, a real database, the real course.

Prints a table, for a stranger and for a learner with a history: the median and the 95th percentile in
milliseconds, the processor's own time (which a busy machine does not stretch), the size as sent, and the
ratio to /healthz, which is what the framework itself costs. Then, from a real browser, a table of what the first
view of every chapter brings over the wire, which tests/browser/test_weight.py holds to its limit.
"""

import asyncio
import re
import statistics
import sys
import tempfile
import time
from collections.abc import MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "browser")]

from browser_parts import CHROMIUM, FLAGS  # noqa: E402
from first_view import (  # noqa: E402
    KINDS,
    MAX_CHAPTER_BYTES,
    list_chapters,
    measure_first_view,
    serve_course,
)

from app.main import create_app  # noqa: E402
from app.settings import Settings  # noqa: E402
from app.storage.database import migrate  # noqa: E402
from app.web.edge.rates import Rates  # noqa: E402

ROUNDS = 200
WARM_UP = 20
GOAL_MILLISECONDS = 8.0
WIDTHS = (390, 1280)


@dataclass(frozen=True)
class Measured:
    reader: str
    path: str
    median_milliseconds: float
    p95_milliseconds: float
    cpu_milliseconds: float
    sent_kib: float


async def ask(app: FastAPI, path: str, cookie: str) -> tuple[int, int]:
    """One request straight at the application, without a client's own work: status, and bytes of the body."""
    headers = [(b"host", b"bench"), (b"accept-encoding", b"gzip"), (b"cookie", cookie.encode())]
    scope = {"type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "path": path}
    scope |= {"raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": headers}
    scope |= {"client": ("127.0.0.1", 1), "server": ("bench", 80), "asgi": {"version": "3.0"}}
    status = size_bytes = 0

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        nonlocal status, size_bytes
        status = message.get("status", status)
        size_bytes += len(message.get("body", b""))

    await app(scope, receive, send)
    return status, size_bytes


async def measure(app: FastAPI, reader: str, cookie: str, path: str) -> Measured:
    times, cpu_times = [], []
    size_bytes = 0
    for turn in range(WARM_UP + ROUNDS):
        started, cpu_started = time.perf_counter(), time.process_time()
        status, size_bytes = await ask(app, path, cookie)
        if turn >= WARM_UP:
            times.append(1000 * (time.perf_counter() - started))
            cpu_times.append(1000 * (time.process_time() - cpu_started))
        if status != 200:
            raise SystemExit(f"{path} answered {status}")
    p95 = statistics.quantiles(times, n=20)[-1]
    return Measured(reader, path, statistics.median(times), p95, statistics.median(cpu_times), size_bytes / 1024)


async def leave_a_history(client: httpx2.AsyncClient, chapter: str) -> None:
    """Commit every prediction, answer the choices, and keep a draft of every cell."""
    page = (await client.get(chapter)).text
    for action in re.findall(rf'action="({chapter}/predictions/[^"]+)"', page):
        await client.post(action, data={"option": "dont-know"})
    for action in re.findall(rf'action="({chapter}/answers/[^"]+)"', page):
        await client.post(action, data={"text": "an answer", "number": "1", "line": "1"})
    for place in re.findall(r'data-draft="([^"]+)"', page):
        await client.put(f"/api/drafts/{place}", json={"text": "x = 1\n" * 20})
    await client.post(f"{chapter}/read")


async def run(settings: Settings) -> list[Measured]:
    app = create_app(settings, rates=Rates(factor=1e6))
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://bench") as client,
    ):
        chapter = f"/chapters/{app.state.site.read_course().chapters[0].slug}"
        await leave_a_history(client, chapter)
        cookie = f"unwind={client.cookies['unwind']}"
        measured = [await measure(app, "stranger", "", path) for path in ("/healthz", "/", "/course", chapter)]
        return measured + [await measure(app, "learner", cookie, path) for path in ("/course", "/me", chapter)]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data=Path(folder), course=ROOT)
        migrate(settings.database, settings.data)
        measured = asyncio.run(run(settings))
    floor = measured[0].median_milliseconds
    print(f"{'reader':10}{'page':52}{'median ms':>10}{'p95 ms':>9}{'CPU ms':>9}{'KiB sent':>10}{'x /healthz':>12}")
    for row in measured:
        ratio = row.median_milliseconds / floor
        times = f"{row.median_milliseconds:10.2f}{row.p95_milliseconds:9.2f}{row.cpu_milliseconds:9.2f}"
        print(f"{row.reader:10}{row.path:52}{times}{row.sent_kib:10.1f}{ratio:12.1f}")
    print(f"goal: a chapter's median at most {GOAL_MILLISECONDS:g} ms")
    print_first_views()


def print_first_views() -> None:
    print(f"\n{'first view, kB':56}{'width':>6}{''.join(f'{kind:>12}' for kind in KINDS)}{'total':>9}")
    with (
        tempfile.TemporaryDirectory() as data,
        serve_course(ROOT, Path(data)) as site,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for path in list_chapters(site):
            for width in WIDTHS:
                view = measure_first_view(browser, site, path, width)
                parts = "".join(f"{view.of_kind.get(kind, 0) / 1000:12.1f}" for kind in KINDS)
                print(f"{path:56}{width:6}{parts}{view.total_bytes / 1000:9.1f}")
        browser.close()
    print(f"goal: at most {MAX_CHAPTER_BYTES / 1000:g} kB")


if __name__ == "__main__":
    main()

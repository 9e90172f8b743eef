"""Two hundred traces at once, half of them hostile, against a real website, while a reader reads chapter pages.

python bench/drawing_stress.py [--clients 200] [--idle-seconds 10]

Each client is a learner of its own: it runs a cell, follows the stream, and asks for the graph with its folds open,
whole, as a figure, and as a page. The runs end at once, each with a trace that was made here: drawing alone is
measured. The reader has a process of its own; clients run at a lower priority, as if they were on other machines.

Ends with exit status 1 if any answer is a 500 or none at all, or if the pages' 95th percentile is more than three
times that of an idle site, before and after.
"""

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), *(str(ROOT / "tests" / "app" / folder) for folder in ("pictures", "web"))]

from picture_parts import Sketch, load_recorded, sketch_chain  # noqa: E402
from site_parts import HELLO  # noqa: E402
from test_hostile_traces import all_keys  # noqa: E402

from app.pictures import read_graph  # noqa: E402
from app.settings import Settings  # noqa: E402
from graders.contract.jobs import Queue  # noqa: E402
from graders.contract.results import Outcome, RunEnd  # noqa: E402
from graders.contract.trace import Trace  # noqa: E402
from graders.ledger import open_ledger  # noqa: E402

MAX_RATIO = 3.0
PAUSE_SECONDS = 0.02
MAX_OPENED = 64
HONEST = ("mlp", "transformer", "rnn", "checkpoint", "chunk")
LIVE_SECONDS = 600.0


def make_stack() -> Trace:
    """Six thousand leaves in one operation."""
    sketch = Sketch()
    return sketch.trace(sketch.op("stack", *[sketch.leaf(f"w{number}") for number in range(6_000)]))


def make_dense() -> Trace:
    """Each of 300 operations uses every earlier one."""
    sketch = Sketch()
    for number in range(300):
        sketch.op("cat", *range(number), span=(number + 1, 0, number + 1, 5), module=f"m{number // 20}")
    return sketch.trace(299)


def make_chain() -> Trace:
    """As many operations as a trace of the largest size can hold."""
    return sketch_chain(9_000).trace()


def make_wordy() -> Trace:
    """Every name as long as a trace may have it."""
    sketch, long = Sketch(), "w" * 200
    node = sketch.leaf(long)
    for number in range(600):
        more = {"variable": long, "values": long, "saved": long, "saved_bytes": 8}
        node = sketch.op("f" * 190, node, sketch.leaf(long), module=f"m{number // 12}", **more)
    return sketch.trace(node)


def make_nested() -> Trace:
    """Regions in regions, and operations that are used again and again."""
    sketch = sketch_chain(1_500)
    for number in range(100):
        sketch.regions.append({"kind": "checkpoint", "nodes": [*range(1, 1_500 - 7 * number)], "span": None})
    return sketch.trace(1_500)


HOSTILE: tuple[Callable[[], Trace], ...] = (make_stack, make_dense, make_chain, make_wordy, make_nested)


@dataclass
class Case:
    """A trace, the end of a run that made it, and the folds that its client opens."""

    name: str
    trace: Trace
    opened: tuple[str, ...]

    def end(self, number: int) -> RunEnd:
        """As the run of one client: no two are the same, so that no picture is kept from another."""
        return RunEnd(outcome=Outcome.OK, trace=self.trace.model_copy(update={"torch": f"2.13.{number}"}))


def list_cases() -> list[Case]:
    """A hostile one and an honest one in turn."""
    hostile = [(make.__name__.removeprefix("make_"), make()) for make in HOSTILE]
    honest = [(name, load_recorded(name)[0]) for name in HONEST]
    both = [named for pair in zip(hostile, honest, strict=True) for named in pair]
    return [
        Case(name, trace, tuple(sorted(all_keys(read_graph(trace)))[:MAX_OPENED]))  # type: ignore[arg-type]
        for name, trace in both
    ]


@contextlib.contextmanager
def open_site(settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    """`python -m app site` until the block ends."""
    variables = {"UNWIND_DATA": settings.data, "UNWIND_PORT": settings.port, "UNWIND_COURSE": settings.course}
    serving = subprocess.Popen(
        [sys.executable, "-m", "app", "site"],
        cwd=ROOT,
        env={**os.environ, **{name: str(value) for name, value in variables.items()}},
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_until_open(settings.port)
        yield serving
    finally:
        serving.send_signal(signal.SIGTERM)
        serving.wait(20)


def wait_until_open(port: int) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError):
            ask(port, "/healthz")
            return
        time.sleep(0.1)
    raise SystemExit("the site did not start; its messages above say why")


def ask(port: int, path: str) -> bytes:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status}")
        return body


def read_pages(port: int, paths: Sequence[str], told: Connection) -> None:
    """Chapters in turn, as long as nothing is told: then the milliseconds of each page are sent back."""
    connection, times = HTTPConnection("127.0.0.1", port, timeout=60), list[float]()
    while not told.poll(PAUSE_SECONDS):
        path = paths[len(times) % len(paths)]
        started = time.perf_counter()
        connection.request("GET", path, headers={"accept-encoding": "gzip"})
        page = connection.getresponse()
        page.read()
        times.append(1000 * (time.perf_counter() - started))
        if page.status != 200:
            times.append(float("inf"))
    told.send(times)


@contextlib.contextmanager
def reading(port: int, paths: Sequence[str], times: list[float]) -> Iterator[None]:
    """A reader in a process of its own until the block ends; then `times` has its milliseconds."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    reader = context.Process(target=read_pages, args=(port, paths, theirs))
    reader.start()
    try:
        yield
    finally:
        ours.send("stop")
        times.extend(ours.recv())
        reader.join()


@dataclass
class Seen:
    """What the clients were answered, and the most memory of each kind of process, in MiB."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    answered_bytes: int = 0
    site_mib: float = 0.0
    drawer_mib: float = 0.0
    drawers_mib: float = 0.0


async def request(port: int, method: str, path: str, cookie: str, body: bytes = b"") -> tuple[int, str, bytes]:
    """Status, cookie and body. On a connection of its own, read to its end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAccept-Encoding: gzip\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nCookie: {cookie}\r\n\r\n"
    writer.write(head.encode() + body)
    answer = await reader.read()
    writer.close()
    headers, _, rest = answer.partition(b"\r\n\r\n")
    found = re.search(rb"set-cookie: ([^;\r]+)", headers, re.IGNORECASE)
    status = int(headers.split(b" ", 2)[1]) if headers else 0
    return status, found.group(1).decode() if found else cookie, rest


async def attack(port: int, number: int, case: Case, seen: Seen) -> None:
    """One learner's run and everything that may be asked of its graph."""
    source = json.dumps({"source": f"{number}", "flavour": "plain"}).encode()
    status, cookie, stream = await request(port, "POST", "/api/runs", "", source)
    seen.statuses["POST run", status] += 1
    seen.answered_bytes += len(stream)
    found = re.search(rb'"id":\s*"([^"]+)"', stream)
    if found is None:
        return
    note = re.search(rb'"trace_note":\s*"([^"]*)"', stream)
    seen.notes[note.group(1).decode() if note else "no end"] += 1
    run, opened = found.group(1).decode(), urlencode([("opened", key) for key in case.opened])
    places = (f"graph?{opened}", "whole", f"figure?{opened}", "graph", "trace")
    for path in (*(f"/api/runs/{run}/{place}" for place in places), f"/runs/{run}?step=3&{opened}"):
        status, _, body = await request(port, "GET", path, cookie)
        kind = path.partition("?")[0].replace(run, "ID")
        seen.statuses[kind, status] += 1
        seen.answered_bytes += len(body)
        if status in (422, 503):
            told = re.search(rb'"message":\s*"([^"]*)"', body)
            seen.notes[told.group(1).decode() if told else "no sentence"] += 1


async def end_runs(settings: Settings, cases: list[Case], stopping: asyncio.Event) -> None:
    """Stands where the graders stand: each run ends at once, with the trace that its source's number names."""
    ledger = open_ledger(settings.database, settings.wakeups_folder)
    await ledger.say_hello(HELLO.model_copy(update={"slots": 8}))

    async def handle(submission: Any) -> None:
        claim = await ledger.claim(submission, HELLO.worker)
        if claim is not None:
            number = int(claim.job.source)  # type: ignore[union-attr]
            await ledger.finish(claim, cases[number % len(cases)].end(number), [])

    await ledger.dispatcher.worker(Queue.CPU, 8, handle, stopping)
    await ledger.close()


def read_mib(pid: int, name: str) -> float:
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith(name)).split()[1]) / 1024
    return 0.0


async def watch_memory(site: int, seen: Seen) -> None:
    while True:
        seen.site_mib = max(seen.site_mib, read_mib(site, "VmHWM:"))
        children = find_children(site)
        seen.drawer_mib = max([seen.drawer_mib, *(read_mib(pid, "VmHWM:") for pid in children)])
        seen.drawers_mib = max(seen.drawers_mib, sum(read_mib(pid, "VmRSS:") for pid in children))
        await asyncio.sleep(0.2)


def find_children(parent: int) -> list[int]:
    processes = Path("/proc").glob("[0-9]*")
    return [int(path.name) for path in processes if f"\nPPid:\t{parent}\n" in read_text(path / "status")]


def read_text(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_text()
    return ""


async def stress(settings: Settings, site: int, cases: list[Case], clients: int) -> tuple[Seen, float]:
    seen, stopping = Seen(), asyncio.Event()
    ending = asyncio.create_task(end_runs(settings, cases, stopping))
    watching = asyncio.create_task(watch_memory(site, seen))
    await asyncio.sleep(1)
    started = time.perf_counter()
    async with asyncio.timeout(LIVE_SECONDS):
        await asyncio.gather(
            *(attack(settings.port, number, cases[number % len(cases)], seen) for number in range(clients))
        )
    seconds = time.perf_counter() - started
    watching.cancel()
    stopping.set()
    await ending
    return seen, seconds


def attack_all(settings: Settings, site: int, clients: int, told: Connection) -> None:
    # The work of the clients is not the site's: on other machines it would not take its processor.
    os.nice(10)
    told.send(asyncio.run(stress(settings, site, list_cases(), clients)))


def run_stress(settings: Settings, site: int, clients: int) -> tuple[Seen, float]:
    """In another process. What the clients saw, and in how many seconds."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    attackers = context.Process(target=attack_all, args=(settings, site, clients, theirs))
    attackers.start()
    theirs.close()
    found: tuple[Seen, float] = ours.recv()
    attackers.join()
    return found


def find_p95(times: list[float]) -> float:
    return sorted(times)[int(0.95 * (len(times) - 1))]


def tell(name: str, times: list[float]) -> None:
    words = f"median {median(times):7.1f} ms, p95 {find_p95(times):7.1f} ms, longest {max(times):7.1f} ms"
    print(f"chapter pages {name:13} {len(times):5} read, {words}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--idle-seconds", type=float, default=10.0)
    chosen = parser.parse_args()
    idle, busy, after = list[float](), list[float](), list[float]()
    with tempfile.TemporaryDirectory(prefix="unwind-bench-") as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        settings = Settings(data=Path(folder), course=ROOT, port=port)
        with open_site(settings) as site:
            paths = sorted(set(re.findall(r'href="(/chapters/[^"#/]+)"', ask(port, "/course").decode())))
            for path in paths:
                ask(port, path)
            with reading(port, paths, idle):
                time.sleep(chosen.idle_seconds)
            quiet_mib = read_mib(site.pid, "VmHWM:")
            with reading(port, paths, busy):
                seen, seconds = run_stress(settings, site.pid, chosen.clients)
            with reading(port, paths, after):
                time.sleep(chosen.idle_seconds)
    report(seen, seconds, quiet_mib)
    for name, times in (("idle", idle), ("under stress", busy), ("idle again", after)):
        tell(name, times)
    # Before and after: whatever else the machine does changes within minutes.
    ratio = find_p95(busy) / find_p95(idle + after)
    print(f"p95 under stress is {ratio:.1f} times that of the idle site; goal: at most {MAX_RATIO:g}")
    faults = sum(count for (_, status), count in seen.statuses.items() if status == 0 or status == 500)
    if faults or ratio > MAX_RATIO or float("inf") in busy:
        raise SystemExit(1)


def report(seen: Seen, seconds: float, quiet_mib: float) -> None:
    print(f"{seen.statuses.total()} requests in {seconds:.1f} s, {seen.answered_bytes / 1e6:.0f} MB of answers")
    for (kind, status), count in sorted(seen.statuses.items()):
        print(f"  {count:5} {status} {kind}")
    for note, count in seen.notes.most_common():
        print(f"  {count:5} read: {note or '(a picture)'}")
    print(f"memory: site {quiet_mib:.0f} MiB idle, {seen.site_mib:.0f} at most; ", end="")
    print(f"largest process that draws {seen.drawer_mib:.0f}, all of them together {seen.drawers_mib:.0f}")


if __name__ == "__main__":
    main()

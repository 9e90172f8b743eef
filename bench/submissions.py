"""A trivial submission, from its POST to its verdict at the client, on the whole real site: one at a time, then many.

python bench/submissions.py [--count 100] [--together 20] [--course tests/course] [--exercise NAME]
"""

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Site:
    port: int
    data: Path
    ready_seconds: float


@contextlib.contextmanager
def open_site(course: Path, rate_factor: float = 1000.0) -> Iterator[Site]:
    """`python -m app serve` on its own data folder, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="unwind-bench-") as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        variables = {"UNWIND_DATA": folder, "UNWIND_PORT": str(port), "UNWIND_COURSE": str(course)}
        variables["UNWIND_RATE_FACTOR"] = str(rate_factor)
        started = time.perf_counter()
        command = [sys.executable, "-m", "app", "serve"]
        serving = subprocess.Popen(
            command, cwd=ROOT, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True
        )
        assert serving.stdout
        try:
            lines = iter(serving.stdout.readline, "")
            if not any(line.startswith("Unwind is open") for line in lines):
                raise SystemExit("the site did not start; its messages above say why")
            yield Site(port, Path(folder), time.perf_counter() - started)
        finally:
            serving.send_signal(signal.SIGTERM)
            serving.wait(20)


class Learner:
    """A client with a cookie and one connection, as a browser tab has."""

    def __init__(self, port: int) -> None:
        self.connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self.cookie = ""

    def submit(self, exercise: str, source: str) -> str:
        body = json.dumps({"source": source, "idempotency_key": secrets.token_hex(16)})
        headers = {"content-type": "application/json", "cookie": self.cookie}
        self.connection.request("POST", f"/api/exercises/{exercise}/submissions", body, headers)
        answer = self.connection.getresponse()
        accepted = json.loads(answer.read())
        if answer.status != 202:
            raise SystemExit(f"refused: {answer.status} {accepted}")
        self.cookie = answer.headers.get("set-cookie", self.cookie).split(";")[0]
        return str(accepted["events"])

    def await_verdict(self, events: str) -> str:
        """Read the stream to its end. The outcome."""
        self.connection.request("GET", events, headers={"cookie": self.cookie})
        stream = self.connection.getresponse()
        kind = ""
        for raw in stream:
            name, _, value = raw.decode().strip().partition(": ")
            if name == "event":
                kind = value
            elif name == "data" and kind == "finished":
                outcome = json.loads(value)["outcome"]
                stream.read()
                return str(outcome)
        raise SystemExit("the stream ended without a verdict")


def measure_one_by_one(site: Site, exercise: str, source: str, count: int) -> tuple[list[float], list[float]]:
    """Milliseconds from the POST to its 202, and to the verdict."""
    accepted, judged = [], []
    learner = Learner(site.port)
    for _ in range(count):
        started = time.perf_counter()
        events = learner.submit(exercise, source)
        accepted.append(1000 * (time.perf_counter() - started))
        outcome = learner.await_verdict(events)
        judged.append(1000 * (time.perf_counter() - started))
        if outcome != "passed":
            raise SystemExit(f"the solution was judged {outcome}")
    return accepted, judged


async def measure_together(site: Site, exercise: str, source: str, count: int) -> tuple[list[float], float]:
    """Milliseconds to each verdict when all are submitted at once, and the seconds until the last."""

    def submit_once() -> float:
        learner = Learner(site.port)
        started = time.perf_counter()
        learner.await_verdict(learner.submit(exercise, source))
        return 1000 * (time.perf_counter() - started)

    started = time.perf_counter()
    judged = await asyncio.gather(*(asyncio.to_thread(submit_once) for _ in range(count)))
    return list(judged), time.perf_counter() - started


def read_stages(data: Path) -> dict[str, list[float]]:
    """The durations recorded in the ledger's own events, in milliseconds."""
    connection = sqlite3.connect(f"file:{data}/unwind.sqlite3?mode=ro", uri=True)
    rows = connection.execute(
        "SELECT min(at) FILTER (WHERE kind = 'queued'), min(at) FILTER (WHERE kind = 'started'), "
        "min(at) FILTER (WHERE kind = 'finished') FROM events GROUP BY submission"
    ).fetchall()
    connection.close()
    return {
        "submitted to claimed": [1000 * (started - queued) for queued, started, _ in rows],
        "claimed to finished": [1000 * (finished - started) for _, started, finished in rows],
    }


def measure_import_torch() -> float:
    """Milliseconds of a fresh process that imports torch and ends: what a grader without a zygote pays each time."""
    times = []
    for _ in range(3):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import torch"], check=True)
        times.append(1000 * (time.perf_counter() - started))
    return median(times)


def find_percentile(times: list[float], share: float) -> float:
    return sorted(times)[int(share * (len(times) - 1))]


def tell(name: str, times: list[float]) -> None:
    print(f"  {name:28} median {median(times):7.1f} ms   p95 {find_percentile(times, 0.95):7.1f} ms")


def find_exercise(course: Path, name: str | None) -> tuple[str, str]:
    """An exercise of the course, the first if none is named, and its solution's text."""
    exercises = course / "exercises"
    name = name or min(folder.name for folder in exercises.iterdir() if folder.is_dir())
    return name, (exercises / name / "solution.py").read_text(encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--together", type=int, default=20)
    parser.add_argument("--course", type=Path, default=ROOT / "tests" / "course")
    parser.add_argument("--exercise")
    chosen = parser.parse_args()
    exercise, source = find_exercise(chosen.course, chosen.exercise)
    with open_site(chosen.course.absolute()) as site:
        print(f"site ready in {site.ready_seconds:.1f} s; {chosen.count} submissions to '{exercise}', one at a time")
        measure_one_by_one(site, exercise, source, 5)
        accepted, judged = measure_one_by_one(site, exercise, source, chosen.count)
        stages = read_stages(site.data)
        together, seconds = asyncio.run(measure_together(site, exercise, source, chosen.together))
    tell("POST to 202", accepted)
    for name, times in stages.items():
        tell(name, times)
    tell("POST to verdict", judged)
    print(f"{chosen.together} at once: {chosen.together / seconds:.0f} verdicts a second")
    tell("POST to verdict", together)
    cold = measure_import_torch()
    print(f"a cold import of torch: {cold:.0f} ms, {cold / median(judged):.0f} times a whole submission's way")
    print(f"goal: median 60 ms, p95 150 ms; here {median(judged) / 60:.2f} of the median's")


if __name__ == "__main__":
    main()

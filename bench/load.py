"""A class submits at once: hundreds of submissions, twenty in flight, on the whole real site, with one reader.

python bench/load.py [--count 500] [--together 20] [--course tests/course] [--exercise NAME]

Exit status 1 unless every submission has exactly one verdict, and the right one.
"""

import argparse
import sqlite3
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from statistics import median

from submissions import ROOT, Learner, Site, find_exercise, open_site, tell

PAUSE_SECONDS = 0.1
IDLE_SECONDS = 5.0


class Reader:
    """Reads one chapter page again and again until told to stop."""

    def __init__(self, port: int, path: str) -> None:
        self.milliseconds: list[float] = []
        self._port = port
        self._path = path
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> "Reader":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stopping.set()
        self._thread.join()

    def _read(self) -> None:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=60)
        while not self._stopping.wait(PAUSE_SECONDS):
            started = time.perf_counter()
            connection.request("GET", self._path)
            page = connection.getresponse()
            page.read()
            if page.status != 200:
                raise SystemExit(f"{self._path}: {page.status}")
            self.milliseconds.append(1000 * (time.perf_counter() - started))
        connection.close()


def hand_in(site: Site, exercise: str, source: str, count: int, together: int) -> tuple[list[float], float]:
    """Milliseconds from each POST to its verdict, and the total seconds. A client sends one at a time."""
    left = iter(range(count))
    taking = threading.Lock()
    milliseconds: list[float] = []

    def submit_again_and_again() -> None:
        learner = Learner(site.port)
        while True:
            with taking:
                if next(left, None) is None:
                    return
            started = time.perf_counter()
            outcome = learner.await_verdict(learner.submit(exercise, source))
            milliseconds.append(1000 * (time.perf_counter() - started))
            if outcome != "passed":
                raise SystemExit(f"the solution was judged {outcome}")

    started = time.perf_counter()
    with ThreadPoolExecutor(together) as clients:
        for client in [clients.submit(submit_again_and_again) for _ in range(together)]:
            client.result()
    return milliseconds, time.perf_counter() - started


def count_verdicts(data: Path) -> Counter[int]:
    """The number of submissions by their number of verdicts."""
    connection = sqlite3.connect(f"file:{data}/unwind.sqlite3?mode=ro", uri=True)
    rows = connection.execute(
        "SELECT count(events.seq) FROM submissions LEFT JOIN events "
        "ON events.submission = submissions.id AND events.kind = 'finished' GROUP BY submissions.id"
    ).fetchall()
    connection.close()
    return Counter(row[0] for row in rows)


@dataclass(frozen=True)
class Kept:
    """Bytes of the database per submission: while its events are kept, and after."""

    fresh: float
    old: float


def measure_bytes(data: Path, count: int) -> Kept:
    """On a copy, which is emptied step by step."""
    found = sqlite3.connect(f"file:{data}/unwind.sqlite3?mode=ro", uri=True)
    copy = sqlite3.connect(data / "copy.sqlite3")
    found.backup(copy)
    found.close()
    copy.execute("PRAGMA journal_mode = DELETE")
    copy.execute("PRAGMA foreign_keys = ON")
    sizes = []
    for step in ("SELECT 1", "DELETE FROM events WHERE kind != 'finished'", "DELETE FROM submissions"):
        copy.execute(step)
        copy.commit()
        copy.execute("VACUUM")
        sizes.append((data / "copy.sqlite3").stat().st_size)
    copy.close()
    fresh, old, empty = sizes
    return Kept((fresh - empty) / count, (old - empty) / count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--together", type=int, default=20)
    parser.add_argument("--course", type=Path, default=ROOT / "tests" / "course")
    parser.add_argument("--exercise")
    chosen = parser.parse_args()
    exercise, source = find_exercise(chosen.course, chosen.exercise)
    chapter = min(folder.name for folder in (chosen.course / "chapters").iterdir() if folder.is_dir())
    with open_site(chosen.course.absolute()) as site:
        with Reader(site.port, f"/chapters/{chapter}") as idle:
            time.sleep(IDLE_SECONDS)
        with Reader(site.port, f"/chapters/{chapter}") as busy:
            judged, seconds = hand_in(site, exercise, source, chosen.count, chosen.together)
        verdicts = count_verdicts(site.data)
        kept = measure_bytes(site.data, chosen.count)
    pace = chosen.count / seconds
    print(f"{chosen.count} submissions to '{exercise}', {chosen.together} in flight: {pace:.0f} verdicts a second")
    tell("POST to verdict", judged)
    tell("chapter page, idle", idle.milliseconds)
    tell("chapter page, meanwhile", busy.milliseconds)
    slower = median(busy.milliseconds) / median(idle.milliseconds)
    print(f"a page takes {slower:.1f} times as long meanwhile; {len(busy.milliseconds)} were read")
    print(f"bytes per submission: {kept.fresh:,.0f} with its events, {kept.old:,.0f} after UNWIND_EVENT_HOURS")
    print(f"submissions with exactly one verdict: {verdicts[1]} of {chosen.count}")
    if verdicts != Counter({1: chosen.count}):
        raise SystemExit(f"verdicts each: {dict(verdicts)}")


if __name__ == "__main__":
    main()

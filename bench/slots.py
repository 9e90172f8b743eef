"""What one host gives with 1, 2 and 4 slots: real exercises of the course, their solutions, on the whole real site.

python bench/slots.py [--count 36] [--together 16] [--exercises 6] [--slots 1 2 4]

Exercises that need a diagnosis or a memory meter are left out. Prints verdicts per second, ratios, and how long a
submission holds a slot.
"""

import argparse
import itertools
import os
import threading
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean, median

from submissions import ROOT, Learner, Site, find_percentile, open_site, read_stages

Answer = tuple[str, str]


def choose_answers(exercises: Path, count: int) -> list[Answer]:
    """Names and solutions, evenly over the alphabet."""
    fitting = []
    for file in sorted(exercises.glob("*/exercise.toml")):
        manifest = tomllib.loads(file.read_text(encoding="utf-8"))
        if "diagnosis" not in manifest and not manifest.get("memory_meter"):
            fitting.append((file.parent.name, (file.parent / "solution.py").read_text(encoding="utf-8")))
    return fitting[:: max(1, len(fitting) // count)][:count]


def hand_in(site: Site, answers: list[Answer], count: int, together: int) -> tuple[list[float], float]:
    """Milliseconds from each POST to its verdict, and the total seconds."""
    left = iter(itertools.islice(itertools.cycle(answers), count))
    taking = threading.Lock()
    milliseconds: list[float] = []

    def submit_again_and_again() -> None:
        learner = Learner(site.port)
        while True:
            with taking:
                answer = next(left, None)
            if answer is None:
                return
            started = time.perf_counter()
            outcome = learner.await_verdict(learner.submit(*answer))
            milliseconds.append(1000 * (time.perf_counter() - started))
            if outcome != "passed":
                raise SystemExit(f"the solution of {answer[0]} was judged {outcome}")

    started = time.perf_counter()
    with ThreadPoolExecutor(together) as clients:
        for client in [clients.submit(submit_again_and_again) for _ in range(together)]:
            client.result()
    return milliseconds, time.perf_counter() - started


def find_descendants(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for file in listed for child in file.read_text().split()]
    return [found for child in children for found in (child, *find_descendants(child))]


def read_website_seconds() -> float:
    """Processor time so far of the website's process, which this one started through a supervisor."""
    for pid in find_descendants(os.getpid()):
        if b"app.server" in Path(f"/proc/{pid}/cmdline").read_bytes():
            user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
            return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    raise SystemExit("no process of a website was found")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=36)
    parser.add_argument("--together", type=int, default=16)
    parser.add_argument("--exercises", type=int, default=6)
    parser.add_argument("--slots", type=int, nargs="+", default=[1, 2, 4])
    chosen = parser.parse_args()
    answers = choose_answers(ROOT / "exercises", chosen.exercises)
    print(f"{len(os.sched_getaffinity(0))} cores; {', '.join(name for name, _ in answers)}")
    first = 0.0
    for slots in chosen.slots:
        os.environ["UNWIND_SLOTS"] = str(slots)
        with open_site(ROOT) as site:
            hand_in(site, answers, len(answers), 1)
            before = read_website_seconds()
            judged, seconds = hand_in(site, answers, chosen.count, chosen.together)
            website = 1000 * (read_website_seconds() - before) / chosen.count
            held = read_stages(site.data)["claimed to finished"][-chosen.count :]
        pace = chosen.count / seconds
        first = first or pace
        print(
            f"  {slots} slots: {pace:5.2f} verdicts/s, {pace / first:4.2f} times the first; a slot is held "
            f"{mean(held) / 1000:5.2f} s on average, {median(held) / 1000:5.2f} s in the median; "
            f"POST to verdict p95 {find_percentile(judged, 0.95) / 1000:5.2f} s; "
            f"the website used {website:4.1f} ms of processor time each"
        )


if __name__ == "__main__":
    main()

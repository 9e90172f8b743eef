"""The search over the real course: how long its index takes to build, and a query.

Prints processor times, which a busy machine does not stretch: of gathering the passages, of building the index,
and of queries of several kinds, each the median and the 95th percentile, with the number of hits.
"""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.course.loader import load_course  # noqa: E402
from app.course.passages import gather_passages  # noqa: E402
from app.storage.searching import PassageIndex  # noqa: E402

BUILDS = 10
ROUNDS = 200
HITS = 30
QUERIES = (
    "z",
    "zero_grad",
    "version counter",
    "why does my loss not go down",
    "xylophone",
    "a b c d e f g h i j k l",
)


def time_milliseconds(rounds: int, act: Callable[[], object]) -> list[float]:
    times = []
    for _ in range(rounds):
        started = time.process_time()
        act()
        times.append(1000 * (time.process_time() - started))
    return times


def main() -> None:
    course = load_course(ROOT)[0]
    passages = gather_passages(course)
    index = PassageIndex(passages)
    characters = sum(len(one.heading) + len(one.body) for one in passages)
    print(f"{len(passages)} passages, {characters / 1024:.0f} KiB of text")
    gathered = time_milliseconds(BUILDS, lambda: gather_passages(course))
    built = time_milliseconds(BUILDS, lambda: PassageIndex(passages))
    print(f"to gather the passages {statistics.median(gathered):6.1f} ms")
    print(f"to build the index     {statistics.median(built):6.1f} ms")
    print(f"\n{'query':34}{'hits':>6}{'median ms':>11}{'p95 ms':>9}")
    for query in QUERIES:
        times = time_milliseconds(ROUNDS, lambda query=query: index.find(query, HITS))  # type: ignore[misc]
        p95 = statistics.quantiles(times, n=20)[-1]
        hits = len(index.find(query, HITS).hits)
        print(f"{query:34}{hits:6}{statistics.median(times):11.2f}{p95:9.2f}")


if __name__ == "__main__":
    main()

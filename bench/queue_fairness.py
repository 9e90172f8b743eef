"""A class of 300 behind one address for two minutes, alone and with a flood, under the queue's own rule.

python bench/queue_fairness.py [--seeds 5] [--flood cell|submission]

Time is virtual: the rule of graders/ledger/fairness.py decides, and durations are drawn. Four of five acts are
reading; cells take 0.15 s (median), submissions 0.4 s, and none takes more than 8 s. The flood sends one job after
another from fresh cookies, each sleeping 14.5 s. A wait is from the request to the result.
"""

import argparse
import heapq
import random
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from math import log
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from submissions import find_percentile

from graders.ledger.fairness import (
    RECENT_SECONDS,
    SHORT_RUN_SECONDS,
    AddressLoad,
    Ahead,
    Load,
    Pace,
    Rank,
    Reputation,
    count_unproven_slots,
    estimate_seconds,
    estimate_wait,
    rank,
)
from graders.ledger.records import Kind, Policy

CLASS = 300
SECONDS = 120.0
SECONDS_PER_ACT = 30.0
FLOOD_SECONDS = 14.5
FLOOD_AT = 10.0
OPENED_BEFORE_SECONDS = 600.0
RECENT_RUNS = 50
POLICY = Policy()


@dataclass
class Person:
    name: str
    address: str
    since: float
    floods: bool = False


@dataclass
class Job:
    person: Person
    kind: Kind
    seconds: float
    at: float
    rank: Rank
    number: int
    estimate: float
    started: float | None = None
    ended: float | None = None

    def used(self, now: float) -> float:
        """Seconds of a slot, lately."""
        if self.started is None:
            return 0.0
        end = now if self.ended is None else self.ended
        return max(0.0, end - max(self.started, now - RECENT_SECONDS))

    def is_long(self, now: float) -> bool:
        end = now if self.ended is None else self.ended
        return self.started is not None and end - self.started > SHORT_RUN_SECONDS

    def was_short(self, now: float) -> bool:
        return self.ended is not None and not self.is_long(now)


@dataclass
class Queue:
    """The ledger and one worker, with the facts that the rule asks for."""

    slots: int
    waiting: list[Job] = field(default_factory=list)
    running: list[Job] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    by_person: dict[str, list[Job]] = field(default_factory=lambda: defaultdict(list))
    by_address: dict[str, list[Job]] = field(default_factory=lambda: defaultdict(list))
    refused: list[Person] = field(default_factory=list)

    def submit(self, person: Person, kind: Kind, seconds: float, now: float) -> Job | None:
        mine = self.by_person[person.name]
        theirs = self.by_address[person.address]
        reputation = Reputation(
            learner=Load(*weigh(mine, now), sum(job.used(now) for job in mine if job.is_long(now))),
            short_runs=sum(job.was_short(now) for job in mine),
            known_seconds=now - person.since,
            address=AddressLoad(
                *weigh(theirs, now),
                long_seconds=sum(job.used(now) for job in theirs if job.rank.proven and job.is_long(now)),
                trusted=sum(job.rank.proven and job.ended is None for job in theirs),
                short_runs=sum(job.was_short(now) for job in theirs),
            ),
        )
        ranked = rank(kind, reputation)
        ahead, pace = self.count_ahead(ranked), self.measure_pace()
        is_long = estimate_wait(ahead, pace, proven=ranked.proven) > POLICY.wait_limit_seconds
        if reputation.learner.pending >= POLICY.pending_cap or is_long:
            self.refused.append(person)
            return None
        estimate = estimate_seconds(ahead, pace, proven=ranked.proven)
        job = Job(person, kind, seconds, now, ranked, len(self.jobs), estimate)
        for kept in (self.waiting, self.jobs, mine, self.by_address[person.address]):
            kept.append(job)
        return job

    def count_ahead(self, ranked: Rank) -> Ahead:
        earlier = [job.rank.proven for job in self.waiting if job.rank.priority >= ranked.priority]
        return Ahead(sum(earlier), len(earlier) - sum(earlier))

    def measure_pace(self) -> Pace:
        means = []
        for proven in (True, False):
            ended = [job for job in self.jobs if job.ended is not None and job.rank.proven is proven][-RECENT_RUNS:]
            means.append(sum(job.seconds for job in ended) / len(ended) if ended else 1.0)
        unproven = sum(not job.rank.proven for job in self.running)
        return Pace(self.slots, *means, len(self.running) - unproven, unproven)

    def start(self, now: float) -> list[Job]:
        """Fill the free slots."""
        started = []
        for job in sorted(self.waiting, key=lambda job: (-job.rank.priority, job.number)):
            if len(self.running) == self.slots:
                break
            unproven = sum(not other.rank.proven for other in self.running)
            if job.rank.proven or unproven < count_unproven_slots(self.slots):
                job.started = now
                self.waiting.remove(job)
                self.running.append(job)
                started.append(job)
        return started


def weigh(jobs: list[Job], now: float) -> tuple[int, float]:
    """How many are unfinished, and what all used lately."""
    return sum(job.ended is None for job in jobs), sum(job.used(now) for job in jobs)


class Simulation:
    """Events in the order of a virtual clock. `flooders` cookies are in use at any time, at one address."""

    def __init__(self, seed: int, slots: int, flooders: int, address: str, kind: Kind, cookie_seconds: float) -> None:
        self.random = random.Random(seed)
        self.queue = Queue(slots)
        self.flood_kind = kind
        self.cookie_seconds = cookie_seconds
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._order = count()
        self._cookies = count()
        for number in range(CLASS):
            person = Person(f"learner-{number}", "class", -self.random.uniform(0, OPENED_BEFORE_SECONDS))
            self._act_later(person, 0.0)
        for _ in range(flooders):
            self._at(FLOOD_AT, lambda now: self._flood(address, now))

    def run(self) -> Queue:
        while self._events:
            now, _, act = heapq.heappop(self._events)
            act(now)
            for job in self.queue.start(now):
                self._at(now + job.seconds, lambda now, job=job: self._end(job, now))
            honest = any(not job.person.floods for job in self.queue.waiting + self.queue.running)
            if now > SECONDS and not honest:
                break
        return self.queue

    def _at(self, when: float, act: Callable[[float], None]) -> None:
        heapq.heappush(self._events, (when, next(self._order), act))

    def _act_later(self, person: Person, now: float) -> None:
        when = now + self.random.expovariate(1 / SECONDS_PER_ACT)
        if when < SECONDS:
            self._at(when, lambda now: self._act(person, now))

    def _act(self, person: Person, now: float) -> None:
        drawn = self.random.random()
        if drawn < 0.15:
            self.queue.submit(person, Kind.RUN, self._draw(0.15), now)
        elif drawn < 0.2:
            self.queue.submit(person, Kind.GRADE, self._draw(0.4), now)
        self._act_later(person, now)

    def _draw(self, seconds: float) -> float:
        return min(8.0, self.random.lognormvariate(log(seconds), 0.8))

    def _flood(self, address: str, now: float) -> None:
        since = now - self.cookie_seconds
        cookie = Person(f"flooder-{next(self._cookies)}", address, since, floods=True)
        if self.queue.submit(cookie, self.flood_kind, FLOOD_SECONDS, now) is None and now < SECONDS:
            self._at(now + 5.0, lambda now: self._flood(address, now))

    def _end(self, job: Job, now: float) -> None:
        job.ended = now
        self.queue.running.remove(job)
        if job.person.floods and now < SECONDS:
            self._flood(job.person.address, now)


@dataclass
class Measured:
    """Of the honest alone: waits, the ratio of estimate and actual in the sum, refusals."""

    waits: list[float]
    first_waits: list[float]
    ratio: float
    refused: int


def measure(seeds: int, slots: int, flooders: int, address: str, kind: Kind, cookie_seconds: float) -> Measured:
    waits, firsts, estimates, refused = [], [], 0.0, 0
    for seed in range(seeds):
        queue = Simulation(seed, slots, flooders, address, kind, cookie_seconds).run()
        honest = [job for job in queue.jobs if not job.person.floods and job.ended is not None]
        waits += [job.ended - job.at for job in honest]
        firsts += [job.ended - job.at for job in honest if not job.rank.proven]
        estimates += sum(job.estimate for job in honest)
        refused += sum(not person.floods for person in queue.refused)
    return Measured(waits, firsts, estimates / sum(waits), refused)


def tell(name: str, found: Measured, idle: Measured) -> None:
    shares = [(0.5, "p50"), (0.95, "p95"), (1.0, "max")]
    told = []
    for share, word in shares:
        wait = find_percentile(found.waits, share)
        told.append(f"{word} {wait:6.2f} s ({wait / find_percentile(idle.waits, share):4.1f}x)")
    new = f"new ones {len(found.first_waits):4}, p50 {median(found.first_waits):5.1f} s" if found.first_waits else ""
    print(f"  {name:32} {'  '.join(told)}  refused {found.refused:3}  estimate/actual {found.ratio:4.2f}  {new}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--flood", choices=("cell", "submission"), default="cell")
    parser.add_argument("--cookie-seconds", type=float, default=0.0, help="how old the flood's cookies are")
    chosen = parser.parse_args()
    kind = Kind.RUN if chosen.flood == "cell" else Kind.GRADE
    print(f"honest waits, {chosen.seeds} classes each; in brackets the ratio to the class alone (goal: at most 3)")
    for slots in (2, 8):
        print(f"{slots} slots")
        idle = measure(chosen.seeds, slots, 0, "class", kind, 0.0)
        tell("the class alone", idle, idle)
        for flooders in (20, 200):
            for address, where in (("elsewhere", "its own address"), ("class", "the class's address")):
                found = measure(chosen.seeds, slots, flooders, address, kind, chosen.cookie_seconds)
                tell(f"{flooders} cookies, {where}", found, idle)


if __name__ == "__main__":
    main()

"""Whose job runs first: one pure rule that every dispatcher uses, so that little never waits behind much.

First come those who are not new, because a fresh cookie has used nothing and costs nothing; then the kind of
the job, what its learner has waiting and has lately used, and the same for their address. The address comes last,
because a whole class may share one. A run cannot be interrupted, so order alone is not enough: half of a worker's
slots are kept from jobs whose learner is not yet known to run short ones.
"""

from dataclasses import dataclass, field
from typing import Final

from graders.ledger.records import Kind

RECENT_SECONDS: Final = 300.0
"""What was used longer ago than this counts for nobody any more."""
SHORT_RUN_SECONDS: Final = 3.0
NEW_FOR_SECONDS: Final = 60.0
"""Nobody reads an exercise in less, so nobody who came to learn has an answer by then."""
LONG_SECONDS_ALLOWED: Final = 15.0
"""In long runs, lately: a learner who used more has no claim to a slot that is kept for short ones."""
USED_SECONDS_PER_JOB: Final = 10.0
"""So much time used lately weighs as much as one job that waits."""
SUSPICIOUS_SECONDS: Final = 10.0
"""For so much trust abused at an address, lately, its learners need one short run more as a proof."""
TRUSTED_PER_SHORT_RUN: Final = 4
MAX_SHORT_RUNS_ASKED: Final = 4
MAX_LOAD: Final = 99
KIND_ORDER: Final = (Kind.RUN, Kind.CHECK, Kind.GRADE)


@dataclass(frozen=True)
class Load:
    """What a learner has unfinished, and the seconds of slots that they used lately; of those, in long runs."""

    pending: int = 0
    used_seconds: float = 0.0
    long_seconds: float = 0.0

    @property
    def jobs(self) -> int:
        return self.pending + int(self.used_seconds / USED_SECONDS_PER_JOB)


@dataclass(frozen=True)
class AddressLoad(Load):
    """The same of an address: here only those long runs count that had been taken for short ones.

    `trusted` are its unfinished jobs that are taken for short ones, `short_runs` those that lately were.
    """

    trusted: int = 0
    short_runs: int = 0

    @property
    def abuse(self) -> int:
        """How often trust was abused, where that was most of what the address used."""
        return int(self.long_seconds / SUSPICIOUS_SECONDS) if self.long_seconds > self.used_seconds / 2 else 0


@dataclass(frozen=True)
class Reputation:
    """What is known of whoever submits a job. `short_runs` are all of theirs that are still kept."""

    learner: Load = field(default_factory=Load)
    short_runs: int = 0
    known_seconds: float = 0.0
    address: AddressLoad = field(default_factory=AddressLoad)


@dataclass(frozen=True)
class Rank:
    """A job's place: a higher `priority` runs earlier. What is not `proven` keeps to its share of the slots."""

    priority: int
    proven: bool


def rank(kind: Kind, reputation: Reputation) -> Rank:
    """Digits of one number, the most important first: known, kind, the learner's load, the address's load."""
    is_new = reputation.short_runs == 0 and reputation.known_seconds < NEW_FOR_SECONDS
    known = int(reputation.known_seconds / NEW_FOR_SECONDS * MAX_LOAD / 2) if is_new else MAX_LOAD
    if not reputation.short_runs:
        known = max(0, known - reputation.address.abuse)
    lightness = MAX_LOAD - min(reputation.learner.jobs, MAX_LOAD)
    # By powers of two: a class of 300 behind one address is then hardly worse off than one learner at home.
    quiet = MAX_LOAD - min(reputation.address.jobs.bit_length(), MAX_LOAD)
    priority = 0
    for digit in (known, 0 if is_new else KIND_ORDER.index(kind), lightness, quiet):
        priority = priority * (MAX_LOAD + 1) + digit
    return Rank(priority, is_proven(reputation))


def is_proven(reputation: Reputation) -> bool:
    """Whether this learner probably runs something short: they did before, or came to read a while ago."""
    learner, address = reputation.learner, reputation.address
    if learner.pending > 1 or learner.long_seconds > LONG_SECONDS_ALLOWED:
        return False
    # One after the other, until their neighbours have shown that those who come from here run short ones.
    believed = address.abuse == 0 and address.trusted <= TRUSTED_PER_SHORT_RUN * address.short_runs
    if believed and reputation.known_seconds >= NEW_FOR_SECONDS:
        return True
    return reputation.short_runs >= min(max(address.abuse, 1), MAX_SHORT_RUNS_ASKED)


def count_unproven_slots(slots: int) -> int:
    """How many of a worker's slots jobs may hold that are not proven, also while the others are idle."""
    return max(1, slots // 2)


@dataclass(frozen=True)
class Pace:
    """How fast a queue moves: how many run at a time, the means of recent runs of each sort, and what runs now."""

    slots: int
    proven_seconds: float
    unproven_seconds: float
    proven_running: int = 0
    unproven_running: int = 0


@dataclass(frozen=True)
class Ahead:
    """What is queued before a job."""

    proven: int
    unproven: int


def count_ahead(ahead: Ahead, *, proven: bool) -> int:
    """How many run before a job: one that is proven does not wait for those that are not."""
    return ahead.proven if proven else ahead.proven + ahead.unproven


def estimate_wait(ahead: Ahead, pace: Pace, *, proven: bool) -> float:
    """Seconds until a job starts that has so many before it."""
    slots = max(pace.slots, 1)
    busy = pace.proven_running + pace.unproven_running >= slots
    share = max(slots - pace.unproven_running, slots - count_unproven_slots(slots), 1)
    # Whoever runs now is half done, on average.
    wait = (ahead.proven + busy / 2) * pace.proven_seconds / share
    lane = count_unproven_slots(slots)
    if proven and lane < slots:
        return wait
    full = pace.unproven_running >= lane
    return wait + (ahead.unproven + full / 2) * pace.unproven_seconds / lane


def estimate_seconds(ahead: Ahead, pace: Pace, *, proven: bool) -> float:
    """Seconds until a job has run."""
    own = pace.proven_seconds if proven else pace.unproven_seconds
    return round(estimate_wait(ahead, pace, proven=proven) + own, 2)

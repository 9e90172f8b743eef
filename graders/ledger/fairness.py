"""Which job runs first: one pure rule that every dispatcher uses, so that light users never wait for heavy ones.

Learners who are not new come first, because a fresh cookie is free and has used nothing. Then the rule compares the
kind of the job, what its learner has waiting and used lately, and the same for their address. The address comes last,
because a whole class may share one. A run cannot be interrupted, so order alone is not enough: half of a worker's
slots are closed to jobs of learners who are not yet known to run short ones.
"""

from dataclasses import dataclass, field
from typing import Final

from graders.ledger.records import Kind

RECENT_SECONDS: Final = 300.0
"""Use that is longer ago than this does not count."""
SHORT_RUN_SECONDS: Final = 3.0
NEW_FOR_SECONDS: Final = 60.0
"""Reading an exercise takes longer than this, so a learner has no answer to submit before."""
LONG_SECONDS_ALLOWED: Final = 15.0
"""A learner who lately used more than this in long runs may not use the slots that are kept for short ones."""
USED_SECONDS_PER_JOB: Final = 10.0
"""This much time used lately counts as much as one waiting job."""
SUSPICIOUS_SECONDS: Final = 10.0
"""Per this many seconds abused at an address lately, its learners need one more short run as a proof."""
TRUSTED_PER_SHORT_RUN: Final = 4
MAX_SHORT_RUNS_ASKED: Final = 4
MAX_LOAD: Final = 99
BACKGROUND_PRIORITY: Final = {Kind.IDLE: -1, Kind.REGRADE: -2}
"""The priority of every other job is at least 0."""
KIND_ORDER: Final = (Kind.RUN, Kind.CHECK, Kind.GRADE)


@dataclass(frozen=True)
class Load:
    """A learner's unfinished jobs, the slot seconds that they used lately, and how many of those in long runs."""

    pending: int = 0
    used_seconds: float = 0.0
    long_seconds: float = 0.0

    @property
    def jobs(self) -> int:
        return self.pending + int(self.used_seconds / USED_SECONDS_PER_JOB)


@dataclass(frozen=True)
class AddressLoad(Load):
    """The same for an address. Its `long_seconds` count only long runs of jobs that were expected to be short.

    `trusted` counts its unfinished jobs that are expected to be short, `short_runs` its recent runs that were short.
    """

    trusted: int = 0
    short_runs: int = 0

    @property
    def abuse(self) -> int:
        """How often jobs expected to be short ran long; 0 unless they took most of what the address used."""
        return int(self.long_seconds / SUSPICIOUS_SECONDS) if self.long_seconds > self.used_seconds / 2 else 0


@dataclass(frozen=True)
class Reputation:
    """What is known about the learner who submits a job. `short_runs` counts all their short runs in the ledger."""

    learner: Load = field(default_factory=Load)
    short_runs: int = 0
    known_seconds: float = 0.0
    address: AddressLoad = field(default_factory=AddressLoad)


@dataclass(frozen=True)
class Rank:
    """A job's place: a higher `priority` runs earlier. Jobs that are not `proven` may use only some of the slots."""

    priority: int
    proven: bool


def rank(kind: Kind, reputation: Reputation) -> Rank:
    """The priority's digits, the most important first: known, kind, the learner's load, the address's load.

    Idle runs come after all others, and regrades after these, in the order in which they were submitted.
    """
    if kind in BACKGROUND_PRIORITY:
        return Rank(BACKGROUND_PRIORITY[kind], proven=False)
    is_new = reputation.short_runs == 0 and reputation.known_seconds < NEW_FOR_SECONDS
    known = int(reputation.known_seconds / NEW_FOR_SECONDS * MAX_LOAD / 2) if is_new else MAX_LOAD
    if not reputation.short_runs:
        known = max(0, known - reputation.address.abuse)
    lightness = MAX_LOAD - min(reputation.learner.jobs, MAX_LOAD)
    # In powers of two, so that a class of 300 behind one address is hardly worse off than one learner at home.
    quiet = MAX_LOAD - min(reputation.address.jobs.bit_length(), MAX_LOAD)
    priority = 0
    for digit in (known, 0 if is_new else KIND_ORDER.index(kind), lightness, quiet):
        priority = priority * (MAX_LOAD + 1) + digit
    return Rank(priority, is_proven(reputation))


def is_proven(reputation: Reputation) -> bool:
    """Whether this learner's job is probably short: their earlier runs were, or they have been here for a while."""
    learner, address = reputation.learner, reputation.address
    if learner.pending > 1 or learner.long_seconds > LONG_SECONDS_ALLOWED:
        return False
    # An address gets trust step by step: its finished short runs allow more jobs that are trusted without a proof.
    believed = address.abuse == 0 and address.trusted <= TRUSTED_PER_SHORT_RUN * address.short_runs
    if believed and reputation.known_seconds >= NEW_FOR_SECONDS:
        return True
    return reputation.short_runs >= min(max(address.abuse, 1), MAX_SHORT_RUNS_ASKED)


def count_unproven_slots(slots: int) -> int:
    """How many of a worker's slots the jobs that are not proven may use, even while the others are idle."""
    return max(1, slots // 2)


@dataclass(frozen=True)
class Pace:
    """How fast a queue moves: its slots, the mean seconds of recent runs of each sort, and how many run now."""

    slots: int
    proven_seconds: float
    unproven_seconds: float
    proven_running: int = 0
    unproven_running: int = 0
    is_served: bool = True
    """Whether any grader was heard of lately."""


@dataclass(frozen=True)
class Ahead:
    """How many jobs of each sort are queued before a job."""

    proven: int
    unproven: int


def count_ahead(ahead: Ahead, *, proven: bool) -> int:
    """How many run before a job: a proven job does not wait for jobs that are not."""
    return ahead.proven if proven else ahead.proven + ahead.unproven


def estimate_wait(ahead: Ahead, pace: Pace, *, proven: bool) -> float:
    """Seconds until a job starts that has `ahead` queued before it."""
    slots = max(pace.slots, 1)
    busy = pace.proven_running + pace.unproven_running >= slots
    share = max(slots - pace.unproven_running, slots - count_unproven_slots(slots), 1)
    # A job that is running now is half done on average.
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

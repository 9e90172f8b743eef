"""What the ledger returns, as frozen values: facts about submissions, claims on them, and workers."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from graders.contract.hello import WorkerHello
from graders.contract.jobs import GradeJob, Queue, RunJob
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.results import RunEnd, Verdict


class Kind(StrEnum):
    """What a submission is: an answer that counts, a run of an exercise's public checks, or a cell's run.

    `IDLE` is a run that nobody waits for, such as that of a program whose picture follows its typing. It runs when a
    slot would be idle otherwise, and counts neither for nor against its learner. `REGRADE` judges an answer again,
    because its exercise was wrong: it runs after all others, counts no attempt, and appears in no history.
    """

    GRADE = "grade"
    CHECK = "check"
    RUN = "run"
    IDLE = "idle"
    REGRADE = "regrade"


class State(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"


@dataclass(frozen=True)
class Policy:
    """How many submissions the ledger accepts, and how long it waits for a silent worker."""

    pending_cap: int = 8
    """How many unfinished jobs, of all kinds together, one learner may have."""
    address_pending_cap: int = 1000
    """The same for all learners behind one address: enough for three jobs each in a class of 300."""
    wait_limit_seconds: float = 120.0
    """A submission that would wait longer than this is refused, with the seconds until it can be tried again."""
    idle_wait_limit_seconds: float = 2.0
    """The same for idle runs: what comes later than this shows a program that has changed meanwhile."""
    card_seconds: float = 600.0
    """How long one learner's runs may have a card within an hour; a run that has begun ends by its own limits."""
    lease_seconds: float = 8.0
    lost_workers_before_fault: int = 3
    cell_retention_seconds: float = 3600.0
    event_retention_seconds: float = 24 * 3600.0
    """How long a finished submission keeps its events, except the last one, which a stream needs for its end."""
    prune_at_most: int = 200
    version_grace_seconds: float = 10.0
    """How long a submission waits for a worker that has its version of the exercise: one may be starting."""
    worker_silence_seconds: float = 15.0
    """A worker that has said no hello for this long does not count as alive."""
    follow_poll_seconds: float = 2.0
    """How often a stream reads the database without a wake-up, in case one was lost."""
    dispatch_poll_seconds: float = 1.0


@dataclass(frozen=True)
class Origin:
    """Where a job comes from: a keyed hash of the address, and how long the site has known its learner."""

    address_key: str | None = None
    known_seconds: float = 0.0
    request: str = ""
    """The id of the request that submits it, which its answer had and which log lines name."""


@dataclass(frozen=True)
class QueuePosition:
    """The place of a queued submission: how many run before it, and the seconds until it will have run."""

    ahead: int
    estimate_seconds: float
    is_served: bool = True
    """False: no grader was heard of lately, and it waits for one to start."""


@dataclass(frozen=True)
class Accepted:
    """The job is in the ledger. `already`: an earlier request with the same key had submitted it."""

    id: SubmissionId
    ahead: int
    """How many run before it; 0 if it is next, is running or has finished."""
    estimate_seconds: float
    already: bool = False
    is_served: bool = True
    """False: no grader was heard of lately, and it waits for one to start."""


@dataclass(frozen=True)
class Submission:
    id: SubmissionId
    learner: LearnerId
    job: GradeJob | RunJob
    state: State
    claim_number: int
    submitted_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    result: Verdict | RunEnd | None


class GradedSubmission(NamedTuple):
    """What grades need to know of a finished attempt. `submitted_at` is in seconds since 1970."""

    id: str
    learner: str
    exercise: str
    submitted_at: float
    outcome: str
    cases_passed: int | None
    cases_total: int | None


@dataclass(frozen=True)
class FinishedSubmission:
    """One finished submission to an exercise, without its source and cases: enough to count progress."""

    id: SubmissionId
    exercise: str
    outcome: str
    finished_at: datetime


@dataclass(frozen=True)
class Claim:
    """The right to run one submission, until its lease runs out. `claim_number` is the fencing token."""

    id: SubmissionId
    learner: LearnerId
    job: GradeJob | RunJob
    claim_number: int
    request: str = ""
    """The id of the request that submitted it; empty if none did, or an older version of the site."""


@dataclass(frozen=True)
class WorkerSeen:
    hello: WorkerHello
    seen_at: datetime


@dataclass(frozen=True)
class OtherVersion:
    """An exercise of which no worker has the website's version: the digests, and how many submissions that ended."""

    exercise: str
    wanted: str
    served: tuple[str, ...]
    submissions: int


class Lack(StrEnum):
    """Why nobody can judge what waits."""

    GRADER = "no grader serves the queue"
    EXERCISE = "the graders of the queue lack this version of the exercise"
    PROGRAM = "a newer website wrote it, and the graders of the queue do not know all of its fields"


@dataclass(frozen=True)
class Unjudged:
    """What waits although nobody can judge it; `seconds` is how long the first has waited.

    The exercise and its digest are told for Lack.EXERCISE alone.
    """

    queue: Queue
    lack: Lack
    waiting: int
    seconds: float
    exercise: str = ""
    digest: str = ""


@dataclass(frozen=True)
class Reconciled:
    """What one reconciliation did. `faulted` counts the jobs that lost as many workers as the policy allows."""

    requeued: int = 0
    faulted: int = 0
    unjudgeable: tuple[OtherVersion, ...] = ()


@dataclass(frozen=True)
class Pruned:
    """How much was forgotten at once: runs of cells and public checks, and events."""

    submissions: int = 0
    events: int = 0


@dataclass(frozen=True)
class Condition:
    """What tells an operator whether the fleet is well. `queues` has the seconds that each one's first has waited."""

    now_seconds: float
    """Since 1970, by the database's clock."""
    silent_workers: tuple[str, ...]
    """Those that did not say goodbye and have not been heard of lately."""
    queues: dict[Queue, float]


@dataclass(frozen=True)
class Depth:
    queued: int
    running: int

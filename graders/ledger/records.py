"""What the ledger hands out: facts about submissions, claims on them, and workers, as frozen values."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from graders.contract.hello import WorkerHello
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.results import RunEnd, Verdict


class State(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"


@dataclass(frozen=True)
class Policy:
    """How much the ledger lets in, and how long it trusts a silent worker."""

    pending_cap: int = 8
    """Unfinished jobs that one learner may have, of all kinds together."""
    wait_limit_seconds: float = 120.0
    """A submission that would wait longer than this is refused with a time to come back."""
    lease_seconds: float = 8.0
    deaths_before_fault: int = 3
    cell_retention_seconds: float = 3600.0
    prune_at_most: int = 200
    worker_silence_seconds: float = 15.0
    """A worker that was not heard of for so long is not counted as alive."""
    follow_poll_seconds: float = 2.0
    """How often a stream looks by itself, for the case that a doorbell was not heard."""
    dispatch_poll_seconds: float = 1.0


@dataclass(frozen=True)
class Accepted:
    """The job is in the ledger. `already`: the same token had brought it before, and this is that one."""

    id: SubmissionId
    place: int
    """1 is the next to run; 0 is running or finished."""
    estimate_seconds: float
    already: bool = False


@dataclass(frozen=True)
class Submission:
    id: SubmissionId
    learner: LearnerId
    job: GradeJob | RunJob
    state: State
    attempt: int
    submitted_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    result: Verdict | RunEnd | None


@dataclass(frozen=True)
class Standing:
    """One finished submission to an exercise, without its source and cases: enough to count progress."""

    id: SubmissionId
    exercise: str
    outcome: str
    finished_at: datetime


@dataclass(frozen=True)
class Claim:
    """The right to run one submission, until its lease runs out. `attempt` is the fencing token."""

    id: SubmissionId
    learner: LearnerId
    job: GradeJob | RunJob
    attempt: int


@dataclass(frozen=True)
class WorkerSeen:
    hello: WorkerHello
    seen_at: datetime


@dataclass(frozen=True)
class Tidied:
    """What one reconciliation did."""

    requeued: int = 0
    faulted: int = 0
    pruned: int = 0


@dataclass(frozen=True)
class Depth:
    queued: int
    running: int

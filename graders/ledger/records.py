"""What the ledger hands out: facts about submissions, claims on them, and workers, as frozen values."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from graders.contract.hello import WorkerHello
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.results import RunEnd, Verdict


class Kind(StrEnum):
    """What a submission is: an answer that counts, a run of an exercise's public checks, or a cell's run."""

    GRADE = "grade"
    CHECK = "check"
    RUN = "run"


class State(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"


@dataclass(frozen=True)
class Policy:
    """How much the ledger lets in, and how long it trusts a silent worker."""

    pending_cap: int = 8
    """Unfinished jobs that one learner may have, of all kinds together."""
    address_pending_cap: int = 1000
    """The same for all learners behind one address: three for each of a class of 300, with some to spare."""
    wait_limit_seconds: float = 120.0
    """A submission that would itself wait longer than this is refused with a time to come back."""
    lease_seconds: float = 8.0
    lost_workers_before_fault: int = 3
    cell_retention_seconds: float = 3600.0
    prune_at_most: int = 200
    version_grace_seconds: float = 10.0
    """How long a submission waits for a grader that has its version of the exercise; one may be starting."""
    worker_silence_seconds: float = 15.0
    """A worker that was not heard of for so long is not counted as alive."""
    follow_poll_seconds: float = 2.0
    """How often a stream looks at the database by itself, in case a wake-up was lost."""
    dispatch_poll_seconds: float = 1.0


@dataclass(frozen=True)
class Origin:
    """Where a job comes from: a keyed hash of the address, and for how long its learner has been known."""

    address_key: str | None = None
    known_seconds: float = 0.0


@dataclass(frozen=True)
class QueuePosition:
    """Where a queued submission stands."""

    ahead: int
    estimate_seconds: float


@dataclass(frozen=True)
class Accepted:
    """The job is in the ledger. `already`: the same key had brought it before, and this is that one."""

    id: SubmissionId
    ahead: int
    """How many run before it; 0 is the next to run, or one that runs already or has finished."""
    estimate_seconds: float
    already: bool = False


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


@dataclass(frozen=True)
class WorkerSeen:
    hello: WorkerHello
    seen_at: datetime


@dataclass(frozen=True)
class OtherVersion:
    """An exercise that no grader has as the website does: digests, and how many submissions it ended."""

    exercise: str
    wanted: str
    served: tuple[str, ...]
    submissions: int


@dataclass(frozen=True)
class Reconciled:
    """What one reconciliation did. `faulted` counts jobs that lost all their workers."""

    requeued: int = 0
    faulted: int = 0
    pruned: int = 0
    unjudgeable: tuple[OtherVersion, ...] = ()


@dataclass(frozen=True)
class Depth:
    queued: int
    running: int

"""Submissions as database rows: the only link between website and worker. Uses neither the web nor torch."""

from graders.ledger.card_quota import CardQuota
from graders.ledger.database import Database
from graders.ledger.datagram_wakeups import short_path
from graders.ledger.ending_counts import Ending, Endings
from graders.ledger.errors import (
    AddressBusy,
    CardQuotaSpent,
    QueueFull,
    StorageRefused,
    TooManyPending,
    UnreadableJob,
)
from graders.ledger.ledger import Ledger, open_ledger, open_ledger_on
from graders.ledger.records import (
    Accepted,
    Claim,
    Condition,
    Depth,
    FinishedSubmission,
    Kind,
    Lack,
    Origin,
    Policy,
    Pruned,
    QueuePosition,
    Reconciled,
    State,
    Submission,
    Unjudged,
    WorkerSeen,
)

__all__ = [
    "Accepted",
    "AddressBusy",
    "CardQuota",
    "CardQuotaSpent",
    "Claim",
    "Condition",
    "Database",
    "Depth",
    "Ending",
    "Endings",
    "FinishedSubmission",
    "Kind",
    "Lack",
    "Ledger",
    "Origin",
    "Policy",
    "Pruned",
    "QueueFull",
    "QueuePosition",
    "Reconciled",
    "State",
    "StorageRefused",
    "Submission",
    "TooManyPending",
    "Unjudged",
    "UnreadableJob",
    "WorkerSeen",
    "open_ledger",
    "open_ledger_on",
    "short_path",
]

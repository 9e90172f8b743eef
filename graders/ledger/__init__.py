"""Submissions as rows: the one door between website and worker. SQLAlchemy and asyncio; no web, no torch."""

from graders.ledger.database import Database
from graders.ledger.errors import QueueFull, StorageRefused, TooManyPending
from graders.ledger.ledger import Ledger, open_ledger, open_ledger_on
from graders.ledger.records import (
    Accepted,
    Claim,
    Depth,
    Policy,
    Standing,
    State,
    Submission,
    Tidied,
    WorkerSeen,
)

__all__ = [
    "Accepted",
    "Claim",
    "Database",
    "Depth",
    "Ledger",
    "Policy",
    "QueueFull",
    "Standing",
    "State",
    "StorageRefused",
    "Submission",
    "Tidied",
    "TooManyPending",
    "WorkerSeen",
    "open_ledger",
    "open_ledger_on",
]

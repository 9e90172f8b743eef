"""Why the ledger refuses: each names who can act, and when to try again."""


class TooManyPending(Exception):
    """This learner already has as many unfinished jobs as one may have."""

    def __init__(self, pending: int, cap: int) -> None:
        super().__init__(f"{pending} of your runs are still waiting or running, and {cap} is the most; wait for one")
        self.pending = pending
        self.cap = cap


class QueueFull(Exception):
    """The wait would be longer than the site promises."""

    def __init__(self, depth: int, retry_after_seconds: int) -> None:
        super().__init__(f"{depth} runs are waiting already; try again in {retry_after_seconds} seconds")
        self.depth = depth
        self.retry_after_seconds = retry_after_seconds


class StorageRefused(Exception):
    """The database could not write: the disk is full, read-only or failing, or the lock was held too long.

    Nothing of the refused transaction was kept. `reason` is the database's own sentence, for the operator.
    """

    retry_after_seconds = 10

    def __init__(self, reason: str) -> None:
        super().__init__(f"the database cannot write ({reason}); nothing was changed")
        self.reason = reason

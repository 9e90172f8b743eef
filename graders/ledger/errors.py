"""Why the ledger refuses. Each message is whole sentences for whoever can act; each knows when to try again."""


class TooManyPending(Exception):
    """This learner already has as many unfinished jobs as one may have."""

    retry_after_seconds = 5

    def __init__(self, pending: int, cap: int) -> None:
        many = f"{pending} of your runs are still waiting or running, and {cap} is the most."
        super().__init__(f"{many} Wait for one of them to end.")


class AddressBusy(Exception):
    """All learners behind one address together have as many unfinished jobs as they may have."""

    retry_after_seconds = 10

    def __init__(self, cap: int) -> None:
        super().__init__(
            f"{cap} runs from your network's address are still waiting or running, and that is the most. "
            "Try again in a moment."
        )


class QueueFull(Exception):
    """This learner's own wait would be longer than the site promises."""

    def __init__(self, ahead: int, retry_after_seconds: int) -> None:
        unit = "second" if retry_after_seconds == 1 else "seconds"
        super().__init__(f"{ahead} runs would start before yours. Try again in {retry_after_seconds} {unit}.")
        self.retry_after_seconds = retry_after_seconds


class StorageRefused(Exception):
    """The database could not write: the disk is full, read-only or failing, or the lock was held too long.

    Nothing of the refused transaction was kept. `reason` is the database's own words, for the operator's log.
    """

    retry_after_seconds = 10

    def __init__(self, reason: str) -> None:
        super().__init__("The site cannot save anything just now. Nothing was changed.")
        self.reason = reason

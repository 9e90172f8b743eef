"""Why the ledger refuses. Each message is sentences for the learner; each error says when to try again."""

from graders.contract.model import SubmissionId


class TooManyPending(Exception):
    """This learner already has as many unfinished jobs as the policy allows one learner."""

    retry_after_seconds = 5

    def __init__(self, pending: int, cap: int) -> None:
        many = f"{pending} of your runs are still waiting or running, and at most {cap} are allowed."
        super().__init__(f"{many} Wait for one of them to end.")


class AddressBusy(Exception):
    """The learners behind one address together have as many unfinished jobs as the policy allows an address."""

    retry_after_seconds = 10

    def __init__(self, cap: int) -> None:
        super().__init__(
            f"{cap} runs from your network's address are still waiting or running, and no more are allowed. "
            "Try again in a moment."
        )


class QueueFull(Exception):
    """This learner would wait longer than the policy's limit."""

    def __init__(self, ahead: int, retry_after_seconds: int) -> None:
        unit = "second" if retry_after_seconds == 1 else "seconds"
        super().__init__(f"{ahead} runs would start before yours. Try again in {retry_after_seconds} {unit}.")
        self.retry_after_seconds = retry_after_seconds


class CardQuotaSpent(Exception):
    """This learner's runs have had a card for as long as the policy allows within an hour."""

    retry_after_seconds = 300

    def __init__(self, used_seconds: float, most_seconds: float) -> None:
        super().__init__(
            f"Your runs had a GPU for {used_seconds:.0f} s within the last hour, and {most_seconds:.0f} s are "
            "allowed. Nothing was submitted. Try again in a few minutes; what is older than an hour no longer counts."
        )


class UnreadableJob(Exception):
    """A job from another version of this program, of which this one does not know some fields. Nothing changed."""

    def __init__(self, submission: SubmissionId, fields: tuple[str, ...]) -> None:
        super().__init__(
            f"{submission}: left to other graders, because this version does not know {', '.join(fields)}. "
            "Give this grader the website's version of Unwind."
        )


class StorageRefused(Exception):
    """The database could not write: the disk is full, read-only or failing, or the lock was held too long.

    The refused transaction changed nothing. `reason` is the database's own message, for the operator's log.
    """

    retry_after_seconds = 10

    sentences = "The site cannot save anything just now. Nothing was changed."

    def __init__(self, reason: str) -> None:
        super().__init__(self.sentences)
        self.reason = reason


class StorageUnavailable(StorageRefused):
    """The database does not answer: its server is gone, or starts again.

    Whether a transaction was committed whose answer was lost, nobody can say: who sends it again, under the same key,
    finds it.
    """

    sentences = "The site's database does not answer just now. Try again in a moment."

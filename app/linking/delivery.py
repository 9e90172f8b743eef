"""Sending grades to a learning platform: what is sent, and what an answer means for it.

Platforms keep the newest grade by its timestamp, and some refuse one that is not later by a whole second: Moodle with
409, Open edX with 400. So timestamps grow by a second each time, whatever the clock says.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import Any
from urllib.parse import urlsplit, urlunsplit

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
WAITS = (MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR, DAY)
"""After which failures it is tried again; then daily."""
GIVEN_UP_AFTER = timedelta(days=14)


class Step(Enum):
    """What comes after an answer. `LATER_STAMP`: at once, with a later timestamp."""

    DONE = auto()
    LATER_STAMP = auto()
    WAIT = auto()
    STOP = auto()


@dataclass(frozen=True)
class Verdict:
    """`problem` is a sentence for the learner and the instructor; empty once the grade is there."""

    step: Step
    problem: str = ""


NO_STUDENT = Verdict(Step.STOP, "The platform says that this person is no student of its course.")
BUSY = Verdict(Step.WAIT, "The platform is busy; the grade is sent again later.")
MEANINGS: Mapping[int, Verdict] = {
    400: NO_STUDENT,
    401: Verdict(Step.WAIT, "The platform does not accept this site's key just now."),
    403: Verdict(Step.STOP, "The platform lets this site send no grades for this assignment."),
    404: Verdict(Step.STOP, "The platform's column for this assignment is gone."),
    409: Verdict(Step.WAIT, "The platform has a newer grade from elsewhere; this one is sent again later."),
    422: NO_STUDENT,
    429: BUSY,
}


def read_answer(status: int, *, is_second: bool) -> Verdict:
    """What a platform's answer to a grade means. `is_second`: it was sent with a later timestamp already."""
    if 200 <= status < 300:
        return Verdict(Step.DONE)
    if status in (400, 409) and not is_second:
        return Verdict(Step.LATER_STAMP)
    if status >= 500:
        return BUSY
    unknown = f"The platform answers with the status {status}, which says nothing about grades."
    return MEANINGS.get(status, Verdict(Step.STOP, unknown))


def find_next_try(tries: int, changed_at: datetime, now: datetime, headers: Mapping[str, str]) -> datetime | None:
    """When to try again after `tries` failures; None once the grade has waited for two weeks."""
    if now - changed_at >= GIVEN_UP_AFTER:
        return None
    wait = WAITS[min(tries, len(WAITS)) - 1]
    return now + max(wait, read_retry_after(headers.get("retry-after", ""), now))


def read_retry_after(text: str, now: datetime) -> timedelta:
    """Seconds or a date, a day at most; nothing for anything else."""
    if re.fullmatch(r"\d{1,9}", text):
        return min(timedelta(seconds=int(text)), DAY)
    try:
        return min(max(parsedate_to_datetime(text) - now, timedelta()), DAY)
    except (ValueError, TypeError):
        return timedelta()


def find_stamp(previous: float | None, now: datetime) -> float:
    """A timestamp of now in seconds, and at least in the second after the previous one."""
    seconds = now.timestamp()
    return seconds if previous is None else max(seconds, math.floor(previous) + 1.0)


def write_score(subject: str, points: float | None, maximum: float, stamp: float) -> dict[str, Any]:
    """The message about one grade. None `points` take a grade away."""
    moment = datetime.fromtimestamp(stamp, UTC)
    score: dict[str, Any] = {
        "userId": subject,
        "timestamp": f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z",
    }
    if points is None:
        return score | {"activityProgress": "Initialized", "gradingProgress": "NotReady"}
    given = {"scoreGiven": round(points, 2), "scoreMaximum": maximum}
    return score | given | {"activityProgress": "Completed", "gradingProgress": "FullyGraded"}


def scores_of(line_item: str) -> str:
    """Where a line item takes scores: below its path, and before its query."""
    parts = urlsplit(line_item)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/scores"))

"""How long a session lasts: until it was idle for too long, or at the latest so long after sign-in."""

from dataclasses import dataclass
from datetime import datetime, timedelta

RECENT = timedelta(minutes=15)
"""For acts that cannot be undone, or that make others powerful, the password must have been typed so lately."""


@dataclass(frozen=True)
class SessionLimits:
    idle: timedelta
    absolute: timedelta

    def expire_at(self, made_at: datetime, now: datetime) -> datetime:
        return min(now + self.idle, made_at + self.absolute)


ANONYMOUS = SessionLimits(timedelta(days=400), timedelta(days=36500))
"""A browser without an account is renewed by use while browsers keep a cookie, which is the only way in."""
LEARNERS = SessionLimits(timedelta(days=30), timedelta(days=180))
STAFF = SessionLimits(timedelta(hours=12), timedelta(days=7))


def find_limits(*, has_account: bool, is_staff: bool) -> SessionLimits:
    if not has_account:
        return ANONYMOUS
    return STAFF if is_staff else LEARNERS

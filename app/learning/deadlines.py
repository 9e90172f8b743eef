"""Deadlines on the wall clock of a section's time zone. Pure.

A moment is an aware datetime; what comes back is in UTC. Days are counted on the wall clock, so that 18:00 stays
18:00 across a change of the clocks, where 24 hours more would be 17:00 or 19:00.
"""

from datetime import UTC, datetime, timedelta, tzinfo

MINUTE = timedelta(minutes=1)
"""A deadline includes its minute: what is due at 18:00 is on time until 18:01."""

DAY = timedelta(days=1)


def read_wall_time(wall: datetime, zone: tzinfo) -> datetime:
    """The moment at which clocks in the zone show `wall`, which has no time zone of its own.

    A time in a skipped hour moves forward by what the clocks skip. Of a doubled hour, the later one counts.
    """
    # fold=0 and fold=1 differ only around a change of the clocks, and there the later moment is the wanted one.
    return max(wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))


def add_days(moment: datetime, days: int, zone: tzinfo) -> datetime:
    """The moment `days` later at the same wall time. Never earlier than for fewer days."""
    return moment.astimezone(UTC) if days == 0 else move(moment, days, zone, zone)


def move(moment: datetime, days: int, old: tzinfo, new: tzinfo) -> datetime:
    """The moment in the zone `new` at which clocks show what they showed in `old`, `days` later."""
    return read_wall_time(moment.astimezone(old).replace(tzinfo=None) + days * DAY, new)


def latest(*moments: datetime | None) -> datetime | None:
    """The latest of some deadlines. None is no deadline, which is later than any."""
    known = [moment for moment in moments if moment is not None]
    return max(known) if known and len(known) == len(moments) else None


def find_end(deadline: datetime, grace: timedelta) -> datetime:
    """The first moment that is too late: deadline + 1 minute + grace."""
    return deadline + MINUTE + grace


def count_days_late(at: datetime, due_at: datetime, zone: tzinfo, grace: timedelta) -> int:
    """How many days late something is that was handed in `at`; 0 if it was on time.

    The smallest n with `at` < add_days(due_at, n) + 1 minute + grace. So 24.5 hours that are 23.5 hours on the wall
    clock are one day.
    """
    if at < find_end(due_at, grace):
        return 0
    # Elapsed and wall time agree to within a day or two, also where a zone once skipped a whole day.
    days = max(1, (at - grace - due_at) // DAY - 2)
    while at >= find_end(add_days(due_at, days, zone), grace):
        days += 1
    return days


def say_day(moment: datetime, zone: tzinfo) -> str:
    """The day on the zone's calendar, as "4 Dec"."""
    local = moment.astimezone(zone)
    return f"{local.day} {local:%b}"


def say_moment(moment: datetime, zone: tzinfo) -> str:
    """The moment on the zone's clock, as "Fri 4 Dec 2026 18:00 (Europe/Zurich)"."""
    local = moment.astimezone(zone)
    return f"{local:%a} {local.day} {local:%b %Y %H:%M} ({zone})"

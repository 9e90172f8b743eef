"""Time zones: the names that exist, and the one that a page's script sends for a learner's first days."""

import zoneinfo
from functools import lru_cache

from fastapi import Request

HEADER = "x-unwind-zone"


@lru_cache(maxsize=1)
def list_zones() -> tuple[str, ...]:
    """The names of all time zones that this machine knows, sorted."""
    return tuple(sorted(name for name in zoneinfo.available_timezones() if name == "UTC" or "/" in name))


def read_zone(request: Request) -> str:
    """The browser's time zone, or nothing if the request names none that exists."""
    name = request.headers.get(HEADER, "")
    return name if name in list_zones() else ""

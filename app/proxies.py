"""Finds out, as a browser would, whether a proxy before the site holds event streams back until they end."""

import time
from enum import StrEnum
from typing import Final

import httpx2

PROGRAM: Final = "import time\nprint('first', flush=True)\ntime.sleep(1.5)\nprint('last', flush=True)\n"
TOGETHER_SECONDS: Final = 0.7
TIMEOUT_SECONDS: Final = 60.0


class Buffered(StrEnum):
    PASSED_ON = "passed on"
    HELD_BACK = "held back"


def find_buffering(url: str) -> Buffered:
    """Run a program that prints, sleeps and prints, and look whether its first line comes before its end.

    Raises OSError, HTTPError or ValueError if the address does not answer as the site does.
    """
    asked = {"source": PROGRAM, "flavour": "plain", "trace": False}
    first = last = 0.0
    with httpx2.stream("POST", f"{url.rstrip('/')}/api/runs", json=asked, timeout=TIMEOUT_SECONDS) as stream:
        if stream.status_code != 200:
            raise ValueError(f"status {stream.status_code} for a run of a cell")
        for line in stream.iter_lines():
            if line.startswith("event: "):
                last = time.monotonic()
                first = first or (last if line == "event: output" else 0.0)
    if not first:
        raise ValueError("a run that prints told of no output")
    return Buffered.PASSED_ON if last - first > TOGETHER_SECONDS else Buffered.HELD_BACK

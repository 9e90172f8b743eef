"""A class of 300 behind one address, on the whole real site with its real limits: alone, then beside a flooder.

python bench/classroom.py [--people 300] [--seconds 120] [--cookies 200] [--course .] [--flood-from 127.0.0.1]
                          [--accounts]

Everybody has opened a page one to two minutes before (--opening), as it takes to read an exercise. Then they
do something every 30 s or so: four times in five they read a page, three times in twenty they run a cell, once in
twenty they submit an answer. A wait is from the request to its result. The flooder keeps as many jobs going as it has
cookies; each job sleeps for 14.5 s. Each round has a fresh site, which knows nobody.

With --accounts everybody makes an account first, and signs in to it from another browser, in which they then work.

Ends with exit status 1 if anybody of the class was refused, or if they waited more than three times as long beside
the flooder.
"""

import argparse
import json
import random
import re
import secrets
import threading
import time
from dataclasses import dataclass, field
from enum import StrEnum
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from urllib.parse import urlencode

from submissions import ROOT, Site, find_exercise, find_percentile, open_site

CLASS_ADDRESS = "127.0.0.1"
SECONDS_PER_ACT = 30.0
READS, RUNS = 0.80, 0.15
FLOOD = "import time\ntime.sleep(14.5)"
FLOOD_PAUSE_SECONDS = 5.0
FLOOD_AFTER_SHARE = 0.1
MAX_TIMES = 3.0
PASSWORD = "ferns dodge my kettle"
OPENED = re.compile(r'data-opened="([^"]+)"')
STACK_BYTES = 512 * 1024
CELL = (
    "import torch\n\nx = torch.randn(3, requires_grad=True)\ny = (x * x).sum()\ny.backward()\nprint(x.grad - 2 * x)\n"
)


class Act(StrEnum):
    SIGN_UP = "make an account"
    SIGN_IN = "sign in"
    READ = "read a page"
    RUN = "run a cell"
    SUBMIT = "submit an answer"


@dataclass
class Noted:
    """What happened to the class. Refusals are 429 and 503; failures are everything else that is no answer."""

    seconds: dict[Act, list[float]] = field(default_factory=lambda: {act: [] for act in Act})
    refused: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, act: Act, seconds: float) -> None:
        with self.lock:
            self.seconds[act].append(seconds)

    @property
    def waits(self) -> list[float]:
        """Of cells and submissions."""
        return self.seconds[Act.RUN] + self.seconds[Act.SUBMIT]


class Refused(Exception):
    """429 or 503."""


@dataclass
class Browser:
    """A cookie, one connection from an address, and the note of the page that was opened first."""

    port: int
    address: str
    cookies: dict[str, str] = field(default_factory=dict)
    opened: str = ""
    connection: HTTPConnection | None = None

    def read(self, path: str) -> None:
        page = self._ask("GET", path).read().decode()
        note = OPENED.search(page)
        self.opened = self.opened or (note[1] if note else "")

    def sign(self, way: str, name: str) -> None:
        """Make an account or sign in to it: "up" or "in"."""
        self._ask("POST", f"/sign-{way}", form={"name": name, "password": PASSWORD}).read()

    def run(self, source: str) -> str:
        """The outcome, once the stream has ended."""
        return self._follow(self._ask("POST", "/api/runs", {"source": source}), "done")

    def submit(self, exercise: str, source: str) -> str:
        asked = {"source": source, "idempotency_key": secrets.token_hex(16)}
        accepted = json.loads(self._ask("POST", f"/api/exercises/{exercise}/submissions", asked).read())
        return self._follow(self._ask("GET", accepted["events"]), "finished")

    def _ask(
        self, method: str, path: str, body: dict[str, str] | None = None, form: dict[str, str] | None = None
    ) -> HTTPResponse:
        if self.connection is None:
            self.connection = HTTPConnection("127.0.0.1", self.port, timeout=180, source_address=(self.address, 0))
        kind = "application/x-www-form-urlencoded" if form else "application/json"
        cookie = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {"content-type": kind, "cookie": cookie, "x-unwind-opened": self.opened}
        sent = urlencode(form) if form else json.dumps(body) if body else None
        self.connection.request(method, path, sent, headers)
        answer = self.connection.getresponse()
        for line in answer.headers.get_all("set-cookie", []):
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value
        if answer.status in (429, 503):
            raise Refused(f"{path}: {answer.status} {answer.read().decode()[:200]}")
        if answer.status >= 400:
            raise HTTPException(f"{path}: {answer.status} {answer.read().decode()[:200]}")
        return answer

    def _follow(self, stream: HTTPResponse, last: str) -> str:
        kind, outcome = "", ""
        for raw in stream:
            name, _, value = raw.decode().strip().partition(": ")
            if name == "event":
                kind = value
            elif name == "data" and kind == last:
                outcome = str(json.loads(value)["outcome"])
        if not outcome:
            raise HTTPException("the stream ended without a result")
        return outcome

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


@dataclass(frozen=True)
class Class:
    """What the class does, and until when it begins something new."""

    site: Site
    pages: tuple[str, ...]
    exercise: str
    solution: str
    has_accounts: bool
    begins: float
    until: float


def take_part(room: Class, noted: Noted, seed: int) -> None:
    """One person, who has one thing going at a time."""
    chance, browser = random.Random(seed), Browser(room.site.port, CLASS_ADDRESS)
    time.sleep(chance.uniform(0, max(0.0, room.begins - time.monotonic()) / 2))
    if room.has_accounts:
        browser = _get_account(room, noted, seed)
    browser.read(chance.choice(room.pages))
    browser.close()
    time.sleep(max(0.0, room.begins + chance.uniform(0, SECONDS_PER_ACT) - time.monotonic()))
    while time.monotonic() < room.until:
        drawn = chance.random()
        act = Act.READ if drawn < READS else Act.RUN if drawn < READS + RUNS else Act.SUBMIT
        begun = time.monotonic()
        try:
            outcome = _do(act, room, browser, chance)
            noted.note(act, time.monotonic() - begun)
            if outcome not in ("ok", "passed"):
                noted.failed.append(f"{act}: {outcome}")
        except Refused as refusal:
            noted.refused.append(str(refusal))
        except (HTTPException, OSError) as error:
            noted.failed.append(f"{act}: {error!r}")
        # The site would close it before the next act, and a browser would open another one as well.
        browser.close()
        time.sleep(max(0.0, min(chance.expovariate(1 / SECONDS_PER_ACT), room.until - time.monotonic())))


def _get_account(room: Class, noted: Noted, seed: int) -> Browser:
    """Make an account, and sign in to it from a browser that the site does not know."""
    browser = Browser(room.site.port, CLASS_ADDRESS)
    for act, way in ((Act.SIGN_UP, "up"), (Act.SIGN_IN, "in")):
        browser.close()
        browser = Browser(room.site.port, CLASS_ADDRESS)
        begun = time.monotonic()
        try:
            browser.sign(way, f"Learner {seed}")
            noted.note(act, time.monotonic() - begun)
        except Refused as refusal:
            noted.refused.append(str(refusal))
        except (HTTPException, OSError) as error:
            noted.failed.append(f"{act}: {error!r}")
    return browser


def _do(act: Act, room: Class, browser: Browser, chance: random.Random) -> str:
    if act is Act.RUN:
        return browser.run(CELL)
    if act is Act.SUBMIT:
        return browser.submit(room.exercise, room.solution)
    browser.read(chance.choice(room.pages))
    return "ok"


@dataclass
class Flood:
    """How many of its jobs ended, and how many were refused."""

    ended: int = 0
    refused: int = 0


def flood(room: Class, address: str, flooded: Flood) -> None:
    """One job after another, each from a fresh cookie."""
    while time.monotonic() < room.until:
        browser = Browser(room.site.port, address)
        try:
            browser.run(FLOOD)
            flooded.ended += 1
        except Refused:
            flooded.refused += 1
            time.sleep(FLOOD_PAUSE_SECONDS)
        except (HTTPException, OSError):
            time.sleep(FLOOD_PAUSE_SECONDS)
        browser.close()


def hold_class(chosen: argparse.Namespace, cookies: int) -> tuple[Noted, Flood]:
    """One round on a fresh site."""
    exercise, solution = find_exercise(chosen.course, chosen.exercise)
    chapters = sorted(folder.name for folder in (chosen.course / "chapters").iterdir() if folder.is_dir())
    pages = (*(f"/chapters/{slug}" for slug in chapters), f"/exercises/{exercise}", "/")
    noted, flooded = Noted(), Flood()
    with open_site(chosen.course.absolute(), rate_factor=1.0) as site:
        begins = time.monotonic() + chosen.opening
        room = Class(site, pages, exercise, solution, chosen.accounts, begins, begins + chosen.seconds)
        people = [threading.Thread(target=take_part, args=(room, noted, seed)) for seed in range(chosen.people)]
        flooders = [
            threading.Thread(target=flood, args=(room, chosen.flood_from, flooded), daemon=True)
            for _ in range(cookies)
        ]
        for thread in people:
            thread.start()
        time.sleep(begins + FLOOD_AFTER_SHARE * chosen.seconds - time.monotonic())
        for thread in flooders:
            thread.start()
        for thread in people:
            thread.join()
    return noted, flooded


def tell(title: str, noted: Noted, flooded: Flood) -> None:
    print(f"{title}: {len(noted.refused)} refused, {len(noted.failed)} failed")
    for act, times in noted.seconds.items():
        if times:
            told = (f"{word} {find_percentile(times, share):6.2f} s" for word, share in SHARES)
            print(f"  {act:18} {len(times):5} times   {'   '.join(told)}")
    if flooded.ended or flooded.refused:
        print(f"  the flooder: {flooded.ended} jobs ended, {flooded.refused} refused")
    for line in [*noted.refused[:3], *noted.failed[:3]]:
        print(f"  ! {line}")


SHARES = (("median", 0.5), ("p95", 0.95), ("longest", 1.0))


def compare(alone: Noted, beside: Noted) -> bool:
    """Print how many times as long the class waited. True: at most three times, at the median and the 95th."""
    ratios = {
        word: find_percentile(beside.waits, share) / find_percentile(alone.waits, share) for word, share in SHARES
    }
    print("waits beside the flooder:", ", ".join(f"{word} {ratio:.1f} times" for word, ratio in ratios.items()))
    return ratios["median"] <= MAX_TIMES and ratios["p95"] <= MAX_TIMES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--opening", type=float, default=120.0, help="seconds before the first act")
    parser.add_argument("--accounts", action="store_true", help="everybody has one")
    parser.add_argument("--cookies", type=int, default=200, help="0: no second round")
    parser.add_argument("--flood-from", default=CLASS_ADDRESS, help="127.0.0.2: from an address of its own")
    parser.add_argument("--course", type=Path, default=ROOT)
    parser.add_argument("--exercise", default="matmul-vjp")
    chosen = parser.parse_args()
    threading.stack_size(STACK_BYTES)
    alone, quiet = hold_class(chosen, cookies=0)
    tell(f"{chosen.people} people behind one address for {chosen.seconds:g} s", alone, quiet)
    rounds, kept = [alone], True
    if chosen.cookies:
        beside, flooded = hold_class(chosen, chosen.cookies)
        tell(f"the same beside a flooder with {chosen.cookies} cookies from {chosen.flood_from}", beside, flooded)
        rounds, kept = [alone, beside], compare(alone, beside)
    if not kept or any(noted.refused or noted.failed for noted in rounds):
        raise SystemExit("the class was refused, failed, or waited more than three times as long")


if __name__ == "__main__":
    main()

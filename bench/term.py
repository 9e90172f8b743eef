"""A term of a class of 500, simulated: how long each page of the desk takes, and what the statistics find in it.

python bench/term.py [--learners 500] [--assignments 40] [--submissions 50000] [--only WORD]

The work is loaded as rows, not run and not judged (bench/term_rows.py): submissions with a program of some 110 lines
and a verdict of 12 cases, answers and predictions of learners who differ in ability, readings, cell runs, comments,
questions, reports, allowances, overrides, a regrade and an audit, over twelve weeks. Two questions of one chapter
have a wrong key: the statistics must find these two and no other, or this ends with an error.

The site runs in this process, without a network, on SQLite. `first` is the first request of all, with nothing in
memory; the other columns are of ten more, in milliseconds. CPU is this process's, all its threads; the client's part,
some 2 ms, is in it.
"""

import argparse
import asyncio
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import httpx2
from fastapi import FastAPI
from grades import NOW, ROOT, choose_assignments
from sqlalchemy import insert
from term_rows import Term, load_term, name_learner, plant

from app.access.permissions import Role
from app.learning.gradebook_csv import Dialect
from app.main import ALWAYS, create_app
from app.server import keep_what_is_loaded
from app.settings import Settings
from app.storage.accounts import PASSWORD
from app.storage.audit import Actor
from app.storage.database import migrate
from app.storage.statements import change
from app.storage.tables import credentials
from app.web.edge.rates import Rates
from app.web.edge.site import Site
from app.web.views.class_items import measure_items

SECRET = "ferns dodge my kettle"
STAFF, LEARNER = "Tea Cher", "Learner 0000"
ROUNDS = 10
GOAL_MILLISECONDS, GOAL_WHOLE_MILLISECONDS = 300.0, 1000.0
OF_A_PLATFORM = "{course_at_platform}"
"""These pages ask another site, which is not there."""


@dataclass(frozen=True)
class Page:
    """`is_whole`: it has every grade or answer of everybody, and its goal is that of the whole gradebook."""

    pattern: str
    path: str
    is_whole: bool = False


@dataclass(frozen=True)
class Measured:
    page: Page
    first: float
    median: float
    p95: float
    cpu: float
    kib: float

    @property
    def is_slow(self) -> bool:
        return self.cpu > (GOAL_WHOLE_MILLISECONDS if self.page.is_whole else GOAL_MILLISECONDS)


async def make_term(site: Site, wanted: argparse.Namespace) -> Term:
    """The section, its staff and its assignments, made as the site makes them."""
    store, actor, course = site.store, Actor(None, NOW), site.read_course()
    secret = await site.passwords.make_hash(SECRET)
    staff = await store.accounts.create(STAFF, secret, actor, is_operator=False)
    assert staff is not None
    section = await store.sections.make("A term", actor)
    assert await store.sections.invite(section, STAFF, Role.INSTRUCTOR, actor)
    assert await store.sections.accept(section, Actor(staff.id, NOW))
    await store.assignments.make(section, choose_assignments(course, wanted.assignments), actor)
    assigned = await store.assignments.of_section(section)
    term = Term(course, section, staff.id, assigned, wanted.learners, wanted.submissions, *plant(course))
    started = time.perf_counter()
    counts = await site.ledger.database.write(load_term, term)
    seconds = time.perf_counter() - started
    row = {"account": name_learner(0), "kind": PASSWORD, "secret": secret, "changed_at": NOW.timestamp()}
    await site.ledger.database.write(change, insert(credentials).values(row))
    print(f"rows loaded, neither run nor judged, in {seconds:.1f} s:")
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return term


def list_desk(term: Term) -> Iterator[Page]:
    """Every page and file of the desk, as its routes say, and what some of them show on demand."""
    lab = term.labs[len(term.labs) // 2]
    values = {
        "section": str(term.section),
        "account": name_learner(1),
        "assignment": lab.id,
        "submission": name_learner(term.submissions // 2),
        "exercise": lab.target,
        "number": "1",
        "slug": term.chapter.slug,
        "item": term.planted[0],
    }
    paths = [route.path for router in ALWAYS for route in router.routes if "GET" in route.methods]  # type: ignore[attr-defined]
    for path in sorted(path for path in paths if path.startswith("/desk/{section}")):
        if OF_A_PLATFORM in path or "{left}" in path:
            continue
        if path.endswith("/gradebook/download"):
            for dialect in Dialect:
                yield Page(f"{path}?for={dialect.value}", f"{path.format(**values)}?for={dialect.value}", True)
            continue
        yield Page(path, path.format(**values), path.endswith("/files"))
        if path.endswith("/gradebook"):
            for more in ("?whole=true", "?sort=total"):
                yield Page(path + more, path.format(**values) + more, True)
        if path.endswith(("/questions", "/submissions", "/audit")):
            more = "?state=all" if path.endswith("/questions") else "?page=2"
            yield Page(path + more, path.format(**values) + more)


def list_learner(term: Term) -> Iterator[Page]:
    yield Page("/me/grades", "/me/grades")
    yield Page("/course", "/course")
    yield Page("/exercises/{exercise}", f"/exercises/{term.labs[0].target}")
    yield Page("/chapters/{slug}", f"/chapters/{term.chapter.slug}")


async def sign_in(app: FastAPI, name: str) -> httpx2.AsyncClient:
    browser = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://bench", timeout=600)
    answer = await browser.post("/sign-in", data={"name": name, "password": SECRET})
    assert answer.status_code == 303, f"{name} could not sign in: {answer.status_code}"
    return browser


async def measure(browser: httpx2.AsyncClient, page: Page) -> Measured:
    walls, processors, kib = [], [], 0.0
    for _ in range(1 + ROUNDS):
        wall, processor = time.perf_counter(), time.process_time()
        answer = await browser.get(page.path)
        walls.append(1000 * (time.perf_counter() - wall))
        processors.append(1000 * (time.process_time() - processor))
        if answer.status_code != 200:
            raise SystemExit(f"{page.path} answered {answer.status_code}; every page of the term must open")
        kib = len(answer.content) / 1024
    p95 = statistics.quantiles(walls[1:], n=20, method="inclusive")[-1]
    return Measured(page, walls[0], statistics.median(walls[1:]), p95, statistics.median(processors[1:]), kib)


async def find_pair(browser: httpx2.AsyncClient, term: Term) -> Page:
    """The first pair of the list of likeness."""
    address = f"/desk/{term.section}/likeness/{term.labs[0].target}"
    found = re.search(rf'href="({address}/[^"/]+/[^"/]+)"', (await browser.get(address)).text)
    assert found, f"{address} names no pair"
    return Page("/desk/{section}/likeness/{exercise}/{left}/{right}", found[1])


async def find_flagged(site: Site, term: Term) -> set[tuple[str, str]]:
    """The items of which the site says that their key is perhaps wrong."""
    known, found = site.store.knowledge, set()
    for chapter in term.course.chapters:
        responses = (
            *await known.predictions(term.section, chapter.slug),
            *await known.answers(term.section, chapter.slug),
        )
        measured = measure_items(chapter, responses)
        found |= {(chapter.slug, item) for item, one in measured.items() if one.perhaps_wrong_key}
    return found


def print_table(measured: list[Measured]) -> None:
    print(f"{'page':64}{'first':>9}{'median':>9}{'p95':>9}{'CPU':>9}{'KiB':>9}")
    for one in measured:
        times = "".join(f"{number:9.0f}" for number in (one.first, one.median, one.p95, one.cpu, one.kib))
        print(f"{one.page.pattern:64}{times}{'  over the goal' if one.is_slow else ''}")
    slow = sum(one.is_slow for one in measured)
    goals = f"{GOAL_MILLISECONDS:g} ms of CPU for a page, {GOAL_WHOLE_MILLISECONDS:g} ms for all grades or answers"
    print(f"goal: at most {goals}; {slow} of {len(measured)} pages are over it")


async def run(settings: Settings, wanted: argparse.Namespace) -> None:
    app = create_app(settings, clock=lambda: NOW, rates=Rates(factor=1e6))
    async with app.router.lifespan_context(app):
        site: Site = app.state.site
        term = await make_term(site, wanted)
        await site.ledger.database.checkpoint()
        print(f"{(settings.data / 'unwind.sqlite3').stat().st_size / 2**20:.0f} MiB of database\n")
        staff, learner = await sign_in(app, STAFF), await sign_in(app, LEARNER)
        keep_what_is_loaded()
        pages = [(staff, page) for page in (*list_desk(term), await find_pair(staff, term))]
        pages += [(learner, page) for page in list_learner(term)]
        chosen = [(browser, page) for browser, page in pages if wanted.only in page.pattern]
        print_table([await measure(browser, page) for browser, page in chosen])
        flagged = await find_flagged(site, term)
        await staff.aclose()
        await learner.aclose()
    planted = {(term.chapter.slug, item) for item in term.planted}
    items = sum(len(one.index.questions) + len(one.index.predicts) for one in term.course.chapters)
    print(f"\nperhaps a wrong key: {len(flagged)} of {items} items, {len(flagged & planted)} of the 2 planted")
    if flagged != planted:
        raise SystemExit(f"the statistics flagged {sorted(flagged)}; planted were {sorted(planted)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--learners", type=int, default=500)
    parser.add_argument("--assignments", type=int, default=40)
    parser.add_argument("--submissions", type=int, default=50_000)
    parser.add_argument("--only", default="", help="measure only the pages whose path has this in it")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data=Path(folder), course=ROOT)
        migrate(settings.database, settings.data)
        asyncio.run(run(settings, wanted))


if __name__ == "__main__":
    main()

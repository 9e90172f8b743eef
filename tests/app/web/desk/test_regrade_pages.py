"""Judging an exercise again: what it would change is shown first, and learners read both results and the reason."""

import re

import httpx2
import pytest
from class_parts import TEACHER, Class, exercise, make_class
from people import sign_in
from sqlalchemy import Connection, select

from app.learning.grading import Credit
from app.storage.audit import AuditFilter, read_lines
from app.web.edge.site import Site
from graders.contract.model import SubmissionId
from graders.ledger.tables import queued, submissions

REASON = "A hidden case expected the wrong sign."


@pytest.fixture
async def class_(site: Site) -> Class:
    return await make_class(site)


def _queued(connection: Connection) -> list[SubmissionId]:
    rows = connection.execute(select(submissions.c.id).where(queued).order_by(submissions.c.number))
    return [SubmissionId(row.id) for row in rows]


async def judge_all(class_: Class, passed: dict[str, int]) -> None:
    """What a grader does with the queue: so many cases pass, by the source that was handed in."""
    ledger = class_.site.ledger
    for submission in await ledger.database.read(_queued):
        found = await ledger.find(submission)
        assert found is not None
        await class_.judge(submission, passed[found.job.source])


async def start(browser: httpx2.AsyncClient, class_: Class, assignment: str, **more: str) -> httpx2.Response:
    form = {"assignment": assignment, "reason": REASON, **more}
    return await browser.post(f"/desk/{class_.section}/regrades", data=form)


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


async def test_the_preview_says_what_would_change_and_only_applying_changes_it(
    browser: httpx2.AsyncClient, class_: Class
) -> None:
    ada, bea, cy = [await class_.enrol(name) for name in ("Ada", "Bea", "Cy")]
    (double,) = await class_.assign(exercise("double", credit=Credit.SHARE))
    for account, key, passed in ((ada, "key-0001", 1), (bea, "key-0002", 4), (cy, "key-0003", 2)):
        await class_.hand_in(account, "double", key, passed)
    await sign_in(browser, TEACHER)

    started = await start(browser, class_, double.id)
    address = started.headers["location"]
    waiting = text_of((await browser.get(address)).text)
    early = await browser.post(f"{address}/end", data={"act": "apply"})
    await judge_all(class_, {"key-0001": 4, "key-0002": 3, "key-0003": 2})
    preview = text_of((await browser.get(address)).text)
    before = text_of((await browser.get(f"/desk/{class_.section}/gradebook")).text)
    applied = await browser.post(f"{address}/end", data={"act": "apply"})
    again = await browser.post(f"{address}/end", data={"act": "apply"})
    after = text_of((await browser.get(f"/desk/{class_.section}/gradebook")).text)
    why = text_of((await browser.get(f"/desk/{class_.section}/gradebook/{double.id}/{ada.id}")).text)

    assert started.status_code == 303
    assert "3 waiting" in waiting
    assert (early.status_code, applied.status_code, again.status_code) == (409, 303, 409)
    assert "1 raised, 1 lowered, 1 unchanged." in preview
    assert "wrong answer, 1 of 4 cases passed, 4 of 4 cases raised 2.5 → 10" in preview
    assert "passed, 4 of 4 cases wrong answer, 3 of 4 cases lower, so the first stays 10" in preview
    assert "Ada 2.5 of 10 2.5 Bea 10 of 10 10 Cy 5 of 10 5" in before
    assert "Ada 10 of 10 10 Bea 10 of 10 10 Cy 5 of 10 5" in after
    assert "passed, judged again" in why


async def test_the_learner_reads_both_results_and_the_reason(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, class_: Class
) -> None:
    ada = await class_.enrol("Ada")
    (double,) = await class_.assign(exercise("double", credit=Credit.SHARE))
    submission = await class_.hand_in(ada, "double", "key-0001", 1)
    await sign_in(browser, TEACHER)
    await sign_in(stranger, "Ada")
    address = (await start(browser, class_, double.id)).headers["location"]
    await judge_all(class_, {"key-0001": 4})
    paths = (f"/exercises/double/submissions/{submission}", "/me/grades")

    before = [(await stranger.get(path)).text for path in paths]
    await browser.post(f"{address}/end", data={"act": "apply"})
    after = [text_of((await stranger.get(path)).text) for path in paths]

    assert [REASON in page for page in before] == [False, False]
    for page in after:
        assert "was “wrong answer, 1 of 4 cases”, is “passed, 4 of 4 cases”. The new result counts." in page
        assert REASON in page
    assert "10 of 10" in after[1]


async def test_a_dropped_regrade_changes_nothing(browser: httpx2.AsyncClient, class_: Class) -> None:
    ada = await class_.enrol("Ada")
    (double,) = await class_.assign(exercise("double"))
    await class_.hand_in(ada, "double", "key-0001", 1)
    await sign_in(browser, TEACHER)
    address = (await start(browser, class_, double.id)).headers["location"]

    dropped = await browser.post(f"{address}/end", data={"act": "drop"})

    assert dropped.status_code == 303
    assert "Dropped." in (await browser.get(address)).text
    assert await class_.site.ledger.database.read(_queued) == []
    line = (await class_.site.ledger.database.read(read_lines, AuditFilter(class_.section)))[0]
    assert (line.verb, line.reason) == ("drop a regrade", REASON)


async def test_a_form_without_a_reason_or_without_work_comes_back_with_its_problem(
    browser: httpx2.AsyncClient, class_: Class
) -> None:
    (double,) = await class_.assign(exercise("double"))
    await sign_in(browser, TEACHER)

    silent, empty = await start(browser, class_, double.id, reason=" "), await start(browser, class_, double.id)

    assert (silent.status_code, empty.status_code) == (422, 422)
    assert "The reason is empty" in silent.text
    assert "there is nothing to judge again" in empty.text


async def test_another_section_s_regrade_and_assignment_are_not_found(
    browser: httpx2.AsyncClient, site: Site, class_: Class
) -> None:
    other = await make_class(site, "Another", teacher="Ann Other")
    await class_.hand_in(await class_.enrol("Ada"), "double", "key-0001", 1)
    (double,) = await class_.assign(exercise("double"))
    await sign_in(browser, TEACHER)
    address = (await start(browser, class_, double.id)).headers["location"]
    number = address.rpartition("/")[2]
    await sign_in(browser, "Ann Other")
    foreign = f"/desk/{other.section}/regrades/{number}"

    answers = [
        await browser.get(foreign),
        await browser.post(f"{foreign}/end", data={"act": "apply"}),
        await browser.post(f"{foreign}/end", data={"act": "drop"}),
        await start(browser, other, double.id),
        await browser.get(address),
    ]

    assert [answer.status_code for answer in answers] == [404] * 5

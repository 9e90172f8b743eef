"""Work from before signing in: asked about, moved when it is claimed, and never moved by itself."""

import httpx2
from people import leave_work, make_account, sign_in, sign_up

from app.storage.records import Work
from app.web.accounts.join import describe_work
from app.web.edge.site import Site


async def test_work_is_kept_when_its_person_says_that_it_is_theirs(browser: httpx2.AsyncClient) -> None:
    await leave_work(browser)

    answer = await sign_up(browser, "Ada")

    assert answer.headers["location"] == "/join?next=/"
    assert "This browser has work in 1 chapter from before you signed in." in (await browser.get("/join")).text
    assert (await browser.get("/me/export.json")).json()["answers"] == []
    kept = await browser.post("/join", data={"choice": "keep", "next": "/course"})
    assert "Kept in your account: work in 1 chapter." in kept.text
    assert 'href="/course">Go on' in kept.text
    assert len((await browser.get("/me/export.json")).json()["answers"]) == 1
    again = await browser.post("/join", data={"choice": "keep"})
    assert "There was nothing left to keep." in again.text


async def test_work_of_somebody_else_stays_out_of_the_account(browser: httpx2.AsyncClient, site: Site) -> None:
    await make_account(site, "Ada")
    await leave_work(browser)
    await sign_in(browser, "Ada")

    answer = await browser.post("/join", data={"choice": "leave", "next": "/course"})

    assert (answer.status_code, answer.headers["location"]) == (303, "/course")
    assert (await browser.get("/me/export.json")).json()["answers"] == []
    assert (await browser.get("/join")).status_code == 303


async def test_a_browser_without_work_is_asked_nothing(browser: httpx2.AsyncClient) -> None:
    assert (await sign_up(browser, "Ada")).headers["location"] == "/"


async def test_the_question_waits_on_the_account_s_page(browser: httpx2.AsyncClient) -> None:
    await leave_work(browser)
    await sign_up(browser, "Ada")

    assert "Say whether it is yours" in (await browser.get("/me/account")).text


def test_what_there_is_is_said_in_words() -> None:
    assert describe_work(Work(3, 5, 0)) == "work in 3 chapters and 5 submissions"
    assert describe_work(Work(1, 1, 1)) == "work in 1 chapter, 1 submission and 1 draft, hint or note"
    assert describe_work(Work(0, 0, 0)) == ""
    assert describe_work(Work(0, 0, 0, drills=1)) == "1 answer to a drill"

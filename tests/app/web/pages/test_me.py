"""A learner's own page: progress, calibration, and their data to take or to delete."""

import re

import httpx2
from people import join, leave_work, make_account, sign_in, sign_up, somebody
from site_parts import FakeWorker, StoppedClock

from app.access.permissions import Role
from app.access.tokens import hash_token
from app.web.edge.site import Site

CHAPTER = "/chapters/a-first-graph"


async def do_everything(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get(CHAPTER)).text
    option = re.search(r'<uw-predict id="double-use".*?name="option" value="([^"]+)"', page, re.S)
    assert option
    form = {"option": option.group(1), "confidence": "certain"}
    await browser.post(f"{CHAPTER}/predictions/double-use", data=form)
    await browser.post("/api/runs", json={"source": "x", "chapter": "a-first-graph", "cell": "square-cell"})
    await browser.post(f"{CHAPTER}/answers/how-many-nodes", data={"number": "1"})
    accepted = await browser.post(
        "/api/exercises/double/submissions", json={"source": "x = 1", "idempotency_key": "12345678"}
    )
    await browser.get(accepted.json()["events"])


async def test_a_page_of_a_stranger_is_empty_and_says_so(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/me")).text

    assert "No prediction of yours has been settled yet." in page
    assert "No exercise tried yet." in page


async def test_progress_and_calibration_follow_what_was_done(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    await do_everything(browser)

    page = (await browser.get("/me")).text

    assert "A first graph" in page
    assert "too few" in page
    assert re.search(r'<th scope="row">Certain</th><td>1</td><td>0</td>', page)
    assert 'href="/exercises/double"' in page


async def test_the_course_map_shows_how_far_one_is_to_its_learner_alone(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient
) -> None:
    await browser.post(f"{CHAPTER}/read")

    assert "read to the end" in (await browser.get("/course")).text
    assert "read to the end" not in (await stranger.get("/course")).text


async def test_what_is_kept_can_be_taken_along(
    browser: httpx2.AsyncClient, worker: FakeWorker, clock: StoppedClock
) -> None:
    await do_everything(browser)

    answer = await browser.get("/me/export.json")
    exported = answer.json()

    assert "attachment" in answer.headers["content-disposition"]
    assert exported["exported_at"] == clock.now.isoformat()
    assert [row["confidence"] for row in exported["predictions"]] == ["certain"]
    assert [(row["question"], row["correct"]) for row in exported["answers"]] == [("how-many-nodes", True)]
    assert [row["job"]["kind"] for row in exported["submissions"]] == ["run", "grade"]
    assert browser.cookies["unwind"] not in answer.text


async def test_a_stranger_has_nothing_to_take(browser: httpx2.AsyncClient) -> None:
    assert (await browser.get("/me/export.json")).status_code == 404


async def test_deleting_leaves_nothing_and_forgets_the_browser(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, worker: FakeWorker, site: Site
) -> None:
    await do_everything(browser)
    await do_everything(stranger)
    cookie = browser.cookies["unwind"]
    session = await site.store.sessions.find(hash_token(cookie.partition(".")[0]), site.clock())
    assert session is not None
    learner = session.learner

    answer = await browser.post("/me/delete")

    assert (answer.status_code, answer.headers["location"]) == (303, "/me?deleted=true")
    assert answer.headers["clear-site-data"] == '"storage"'
    assert "unwind" not in browser.cookies
    assert "Your data is deleted." in (await browser.get(answer.headers["location"])).text
    browser.cookies.set("unwind", cookie)
    assert (await browser.get("/me/export.json")).status_code == 404
    assert {name: rows for name, rows in (await site.store.export(learner)).items() if rows} == {}
    assert await site.ledger.everything(learner) == ()
    assert len((await stranger.get("/me/export.json")).json()["submissions"]) == 2


async def test_deleting_cannot_be_done_by_a_link(browser: httpx2.AsyncClient) -> None:
    assert (await browser.get("/me/delete")).status_code == 405


async def test_deleting_takes_the_account_along(browser: httpx2.AsyncClient, site: Site) -> None:
    await sign_up(browser, "Ada")
    await leave_work(browser)

    assert (await browser.post("/me/delete")).headers["location"] == "/me?deleted=true"

    assert await site.store.accounts.find_by_name("Ada") is None
    assert await site.store.accounts.everyone() == ()


async def test_a_member_of_a_section_closes_the_account_and_the_work_stays(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    ada = await make_account(site, "Ada")
    section = await site.store.sections.make("Spring", somebody(site))
    await join(site, section, ada, Role.LEARNER)
    await sign_in(browser, "Ada")
    await leave_work(browser)

    answer = await browser.post("/me/delete")

    assert answer.headers["location"] == "/me?closed=true"
    assert "Your account is closed" in (await browser.get("/me?closed=true")).text
    assert (await sign_in(browser, "Ada")).status_code == 403
    assert len((await site.store.export(ada.learner))["answers"]) == 1


async def test_deleting_an_account_needs_a_recent_sign_in(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await sign_up(browser, "Ada")
    clock.pass_days(1 / 24)

    assert (await browser.post("/me/delete")).headers["location"].startswith("/sign-in?next=")
    assert await site.store.accounts.find_by_name("Ada") is not None

"""The roster from a file to the accounts of its people: a preview, personal links, and the instructor's choice."""

import csv
from io import StringIO

import httpx2
import pytest
from people import join, make_account, sign_in, somebody

from app.access.permissions import Role
from app.learning.roster import Entry
from app.storage.audit import Actor
from app.storage.records import Account, SectionId, Status
from app.storage.roster import RosterLine
from app.web.edge.site import Site

FILE = "name,email,student_number\nBob Byte,bob@uni.example,12\nCyd,cyd@uni.example,13\n"


@pytest.fixture
async def section(site: Site) -> SectionId:
    return await site.store.sections.make("Spring", somebody(site))


@pytest.fixture
async def ada(site: Site, section: SectionId, browser: httpx2.AsyncClient) -> Account:
    """The section's instructor, signed in."""
    account = await make_account(site, "Ada")
    await join(site, section, account, Role.INSTRUCTOR)
    await sign_in(browser, "Ada")
    return account


async def send(browser: httpx2.AsyncClient, section: SectionId, data: str | bytes) -> httpx2.Response:
    return await browser.post(f"/desk/{section}/roster/preview", files={"file": ("people.csv", data, "text/csv")})


async def apply(browser: httpx2.AsyncClient, section: SectionId, text: str, **more: str) -> httpx2.Response:
    return await browser.post(f"/desk/{section}/roster/apply", data={"text": text, **more})


async def lines(site: Site, section: SectionId) -> dict[str, RosterLine]:
    return {line.entry.name: line for line in await site.store.rosters.lines(section)}


async def test_a_preview_changes_nothing_and_applying_it_twice_changes_nothing_more(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    shown = await send(browser, section, FILE)
    assert "Nothing is changed yet." in shown.text
    assert "UTF-8, with commas between the columns: 2 new." in shown.text
    assert await lines(site, section) == {}

    once = await apply(browser, section, FILE)
    first = await lines(site, section)
    twice = await apply(browser, section, FILE)

    assert "The roster is taken over: 2 new." in once.text
    assert "The roster is taken over: 2 unchanged." in twice.text
    assert await lines(site, section) == first
    assert set(first) == {"Bob Byte", "Cyd"}


async def test_a_file_that_is_no_list_is_refused_in_words(
    browser: httpx2.AsyncClient, section: SectionId, ada: Account
) -> None:
    workbook = await send(browser, section, b"PK\x03\x04")
    huge = await send(browser, section, b"name\n" + b"x" * 300 * 1024)
    missing = await browser.post(f"/desk/{section}/roster/preview", data={})

    assert (workbook.status_code, huge.status_code, missing.status_code) == (422, 413, 422)
    assert "save it as CSV" in workbook.text
    assert "longer than this site accepts" in huge.text


async def test_missing_people_are_dropped_only_on_request_and_come_back_with_the_next_file(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    bob = await make_account(site, "Bob")
    await join(site, section, bob, Role.LEARNER)
    await apply(browser, section, FILE)
    line = (await lines(site, section))["Bob Byte"]
    await site.store.rosters.set_account(section, line.id, bob.id, somebody(site))
    without = "name,student_number\nCyd,13\n"

    shown = await send(browser, section, without)
    assert "1 person of an earlier file is not in this one: Bob Byte." in shown.text
    await apply(browser, section, without)
    kept = await site.store.sections.find_membership(section, bob.id)
    await apply(browser, section, without, drop_missing="true")
    dropped = await site.store.sections.find_membership(section, bob.id)
    assert (await lines(site, section))["Bob Byte"].dropped_at is not None
    await apply(browser, section, FILE)
    back = await site.store.sections.find_membership(section, bob.id)

    found = [one.status if one else None for one in (kept, dropped, back)]
    assert found == [Status.ACTIVE, Status.DROPPED, Status.ACTIVE]
    assert (await lines(site, section))["Bob Byte"].dropped_at is None


async def test_a_file_never_drops_staff(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    bob = await make_account(site, "Bob")
    await join(site, section, bob, Role.LEARNER)
    await apply(browser, section, FILE)
    line = (await lines(site, section))["Bob Byte"]
    await site.store.rosters.set_account(section, line.id, bob.id, somebody(site))
    await site.store.sections.invite(section, "Bob", Role.ASSISTANT, somebody(site))

    await apply(browser, section, "name,student_number\nCyd,13\n", drop_missing="true")

    found = await site.store.sections.find_role(section, bob.id)
    assert found is not None
    assert found.role is Role.ASSISTANT


async def test_a_file_brings_no_staff_back(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    """An instructor comes back by an operator's offer alone."""
    bob = await make_account(site, "Bob")
    await join(site, section, bob, Role.LEARNER)
    await apply(browser, section, FILE)
    line = (await lines(site, section))["Bob Byte"]
    await site.store.rosters.set_account(section, line.id, bob.id, somebody(site))
    await site.store.sections.invite(section, "Bob", Role.INSTRUCTOR, somebody(site))
    await site.store.sections.drop(section, bob.id, somebody(site))

    await apply(browser, section, FILE)

    assert await site.store.sections.find_role(section, bob.id) is None


async def fetch_links(browser: httpx2.AsyncClient, section: SectionId) -> dict[str, str]:
    answer = await browser.post(f"/desk/{section}/roster/links")
    assert answer.headers["cache-control"] == "no-store"
    return {
        row["name"]: row["link"].removeprefix("http://testserver") for row in csv.DictReader(StringIO(answer.text))
    }


async def test_a_personal_link_makes_an_account_the_person_of_the_roster_once(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    bob = await make_account(site, "bobby")
    await apply(browser, section, FILE)
    old = await fetch_links(browser, section)
    new = await fetch_links(browser, section)
    await sign_in(stranger, "bobby")

    assert "a newer one has ended it" in (await stranger.get(old["Bob Byte"])).text
    asked = await stranger.get(new["Bob Byte"])
    assert "and are <strong>Bob Byte</strong> in its roster" in asked.text
    token = new["Bob Byte"].rsplit("/", 1)[-1]
    joined = await stranger.post("/join-section", data={"code": token, "sure": "true"})
    again = await stranger.post("/join-section", data={"code": token, "sure": "true"})
    second = await stranger.post("/join-section", data={"code": new["Cyd"].rsplit("/", 1)[-1], "sure": "true"})

    assert joined.headers["location"] == "/me/account"
    assert "See what is due, and your grades" in (await stranger.get("/me/account")).text
    assert "This link was used" in again.text
    assert "you are another person of the roster already" in second.text
    assert (await lines(site, section))["Bob Byte"].account == bob.id
    assert "bobby</a></th><td>Bob Byte</td><td>learner</td>" in (await browser.get(f"/desk/{section}")).text
    assert list(await fetch_links(browser, section)) == ["Cyd"]


async def test_staff_do_not_become_a_learner_by_a_link_and_a_dropped_person_stays_out(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    bob = await make_account(site, "Bob")
    await join(site, section, bob, Role.LEARNER)
    await site.store.sections.drop(section, bob.id, somebody(site))
    await apply(browser, section, FILE)
    token = (await fetch_links(browser, section))["Bob Byte"].rsplit("/", 1)[-1]
    await sign_in(stranger, "Bob")

    mine = await browser.post("/join-section", data={"code": token, "sure": "true"})
    theirs = await stranger.post("/join-section", data={"code": token, "sure": "true"})

    assert "You teach in Spring" in mine.text
    assert "The staff of Spring took you out of it." in theirs.text
    assert (await lines(site, section))["Bob Byte"].account is None


async def test_an_instructor_says_who_somebody_is_and_takes_it_back(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    """Bob Byte joined by the code, under the same name; nothing is guessed from it."""
    bob = await make_account(site, "Bob Byte")
    await join(site, section, bob, Role.LEARNER)
    await apply(browser, section, FILE)
    found = await lines(site, section)
    assert found["Bob Byte"].account is None
    chosen = {"line": found["Bob Byte"].id, "account": bob.id}

    set_ = await browser.post(f"/desk/{section}/roster/account", data=chosen)
    other = await browser.post(f"/desk/{section}/roster/account", data={**chosen, "line": found["Cyd"].id})
    page = await browser.get(f"/desk/{section}/roster")
    unset = await browser.post(f"/desk/{section}/roster/account", data={"line": chosen["line"]})

    assert (set_.status_code, other.status_code, unset.status_code) == (303, 422, 303)
    assert "2 people in the roster, 1 of whom has joined." in page.text
    assert (await lines(site, section))["Bob Byte"].account is None


async def test_lines_and_learners_of_other_sections_are_not_found(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    foreign = await site.store.sections.make("Foreign", somebody(site))
    bob = await make_account(site, "Bob")
    await join(site, foreign, bob, Role.LEARNER)
    for place in (section, foreign):
        await site.store.rosters.apply(place, [Entry("Bob", "b@x", "12")], somebody(site), drop_missing=False)
    mine, theirs = (await lines(site, section))["Bob"], (await lines(site, foreign))["Bob"]

    for chosen in ({"line": theirs.id, "account": ada.id}, {"line": mine.id, "account": bob.id}):
        assert (await browser.post(f"/desk/{section}/roster/account", data=chosen)).status_code == 422

    assert [line.account for line in await site.store.rosters.lines(foreign)] == [None]
    shown = await send(browser, section, "name,student_number\nNew,99\nBob,12\n")
    assert "Foreign" not in shown.text


async def test_a_new_person_who_is_in_another_section_of_the_same_teacher_is_said_to_be(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    other = await site.store.sections.make("Autumn", somebody(site))
    await join(site, other, ada, Role.INSTRUCTOR)
    await site.store.rosters.apply(other, [Entry("Bob", "", "12")], somebody(site), drop_missing=False)

    assert "new, also in Autumn" in (await send(browser, section, FILE)).text


async def test_an_archived_section_s_links_let_nobody_in(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    bob = await make_account(site, "Bob")
    await apply(browser, section, FILE)
    token = (await fetch_links(browser, section))["Bob Byte"].rsplit("/", 1)[-1]
    await site.store.sections.archive(section, somebody(site))

    assert await site.store.rosters.join_by_link(token, Actor(bob.id, site.clock())) is None


async def test_the_audit_says_whose_line_it_was_as_long_as_the_roster_has_the_name(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    bob = await make_account(site, "bobby")
    await join(site, section, bob, Role.LEARNER)
    await apply(browser, section, FILE)
    line = (await lines(site, section))["Bob Byte"]
    await browser.post(f"/desk/{section}/roster/account", data={"line": line.id, "account": bob.id})

    page = (await browser.get(f"/desk/{section}/audit")).text
    await site.store.accounts.erase(bob.id, somebody(site))
    after = (await browser.get(f"/desk/{section}/audit")).text

    assert "<td>say whose line it is</td><td>bobby</td><td>Bob Byte</td>" in page
    assert "Bob Byte" not in after

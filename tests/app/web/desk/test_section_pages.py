"""Sections as their instructors make and change them, how learners join by a code, and what an archive refuses."""

import re
from datetime import date, datetime
from zoneinfo import ZoneInfo

import httpx2
import pytest
from people import join, make_account, sign_in, somebody
from site_parts import StoppedClock

from app.access.join_codes import CHARACTERS, LETTERS, make_join_code, read_join_code, show_join_code
from app.access.permissions import Role
from app.learning.grading import Assignment, Kind
from app.main import DESK
from app.storage.audit import Actor
from app.storage.records import Account, SectionId, SectionPlan
from app.web.desk.typed_plan import BadPlan, TypedPlan, read_plan, show_plan
from app.web.edge.access import RULES
from app.web.edge.site import Site

FORM = {
    "title": "Autumn",
    "zone": "Europe/Berlin",
    "starts_on": "2026-09-01",
    "ends_on": "2027-01-31",
    "grace_minutes": "15",
    "late_percent_a_day": "20",
    "assistants_extend": "true",
}


@pytest.fixture
async def section(site: Site) -> SectionId:
    return await site.store.sections.make("Spring", somebody(site))


@pytest.fixture
async def ada(site: Site, section: SectionId) -> Account:
    """The section's instructor."""
    account = await make_account(site, "Ada")
    await join(site, section, account, Role.INSTRUCTOR)
    return account


async def test_an_instructor_makes_a_section_and_is_its_instructor(
    browser: httpx2.AsyncClient, site: Site, ada: Account
) -> None:
    await sign_in(browser, "Ada")

    made = await browser.post("/desk/new", data=FORM)

    new = SectionId(made.headers["location"].removeprefix("/desk/"))
    found = await site.store.sections.find(new)
    assert found is not None
    assert found.plan == read_plan(TypedPlan(**{**FORM, "assistants_extend": True}))  # type: ignore[arg-type]
    mine = await site.store.sections.find_role(new, ada.id)
    assert mine is not None
    assert mine.role is Role.INSTRUCTOR
    assert "Autumn" in (await browser.get("/desk")).text
    assert (await browser.get(f"/desk/{new}")).status_code == 200


async def test_a_form_sent_twice_makes_one_section(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock, ada: Account
) -> None:
    await sign_in(browser, "Ada")

    first, again = [(await browser.post("/desk/new", data=FORM)).headers["location"] for _ in range(2)]
    copy, copy_again = [
        (await browser.post("/desk/new", data={**FORM, "from": first.removeprefix("/desk/")})).headers["location"]
        for _ in range(2)
    ]
    clock.pass_days(0.01)
    later = (await browser.post("/desk/new", data=FORM)).headers["location"]

    assert (again, copy_again) == (first, copy)
    assert len({first, copy, later}) == 3


async def test_a_new_section_is_first_offered_in_the_teacher_s_own_time_zone(
    browser: httpx2.AsyncClient, site: Site, ada: Account
) -> None:
    await sign_in(browser, "Ada")
    before = (await browser.get("/desk/new")).text
    await browser.post("/review/zone", data={"zone": "Asia/Kathmandu"})

    after = (await browser.get("/desk/new")).text

    assert "<option selected>UTC</option>" in before
    assert "<option selected>Asia/Kathmandu</option>" in after


async def test_a_form_with_a_mistake_comes_back_as_it_was_typed(browser: httpx2.AsyncClient, ada: Account) -> None:
    await sign_in(browser, "Ada")

    answer = await browser.post("/desk/new", data={**FORM, "ends_on": "2026-01-31"})

    assert answer.status_code == 422
    assert "The last day, 2026-01-31, is before the first, 2026-09-01; write a later one." in answer.text
    assert 'value="Autumn"' in answer.text
    assert "<option selected>Europe/Berlin</option>" in answer.text


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("title", "  ", "no title"),
        ("title", "x" * 121, "121 characters"),
        ("title", "a\u202eb", "no title that can be read"),
        ("zone", "Mars/Olympus", "no time zone 'Mars/Olympus'"),
        ("zone", "../../etc/passwd", "no time zone"),
        ("starts_on", "1.9.2026", "write a date such as 2027-02-01"),
        ("starts_on", "0001-01-01", "in the year 1"),
        ("grace_minutes", "1441", "from 0 to 1440"),
        ("late_percent_a_day", "-1", "from 0 to 100"),
        ("late_percent_a_day", "٣", "from 0 to 100"),
    ],
)
def test_what_makes_no_section_is_refused_in_words(field: str, typed: str, said: str) -> None:
    with pytest.raises(BadPlan, match=re.escape(said)):
        read_plan(TypedPlan(**{**FORM, "assistants_extend": False, field: typed}))  # type: ignore[arg-type]


def test_a_plan_is_read_as_it_is_shown() -> None:
    plan = SectionPlan("Spring", "Asia/Kathmandu", grace_minutes=5)

    assert read_plan(show_plan(plan)) == plan


async def test_a_learner_joins_by_the_code_after_reading_who_will_see_what(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    await make_account(site, "Bob")
    await sign_in(browser, "Ada")
    await browser.post(f"/desk/{section}/code", data={"act": "renew"})
    found = await site.store.sections.find(section)
    assert found is not None
    assert found.join_code is not None
    shown = show_join_code(found.join_code)
    assert shown in (await browser.get(f"/desk/{section}/settings")).text

    link = f"/join-section/{found.join_code}"
    assert (await stranger.get(link)).headers["location"] == f"/sign-in?next={link}"
    assert (
        "To join the section, sign in, or make an account first" in (await stranger.get(f"/sign-in?next={link}")).text
    )
    assert "To join the section" not in (await stranger.get("/sign-in?next=/me/account")).text
    await sign_in(stranger, "Bob")
    typed = await stranger.post("/join-section", data={"code": f" {shown.lower()} "})
    assert typed.headers["location"] == link
    asked = await stranger.get(link)
    assert "You join <strong>Spring</strong> as a learner." in asked.text
    assert len(await site.store.sections.people(section)) == 1
    joined = await stranger.post("/join-section", data={"code": found.join_code, "sure": "true"})

    assert joined.headers["location"] == "/me/account"
    assert "<strong>Spring</strong>: learner" in (await stranger.get("/me/account")).text
    assert "Bob</a></th><td>learner</td>" in (await browser.get(f"/desk/{section}")).text


async def test_a_code_that_nobody_has_and_a_dropped_learner_are_told_so(
    browser: httpx2.AsyncClient, site: Site, section: SectionId
) -> None:
    bob = await make_account(site, "Bob")
    await join(site, section, bob, Role.LEARNER)
    await site.store.sections.set_code(section, "ABCD2345", somebody(site))
    await site.store.sections.drop(section, bob.id, somebody(site))
    await sign_in(browser, "Bob")

    unknown = await browser.get("/join-section/ABCD2346")
    dropped = await browser.post("/join-section", data={"code": "ABCD2345", "sure": "true"})

    assert (unknown.status_code, dropped.status_code) == (422, 422)
    assert "No section has this code." in unknown.text
    assert "The staff of Spring took you out of it." in dropped.text
    assert await site.store.sections.find_role(section, bob.id) is None


def test_a_code_has_no_letter_that_is_read_as_another_and_is_read_however_it_is_typed() -> None:
    codes = [make_join_code() for _ in range(200)]

    assert {letter for code in codes for letter in code} <= set(LETTERS) - set("01OILU")
    assert {len(code) for code in codes} == {CHARACTERS}
    assert [read_join_code(show_join_code(code).lower()) for code in codes] == codes


async def test_a_dropped_learner_is_taken_back_by_the_instructor(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    bob = await make_account(site, "Bob")
    await join(site, section, bob, Role.LEARNER)
    await sign_in(browser, "Ada")

    await browser.post(f"/desk/{section}/people/{bob.id}/end")
    assert "Bob</a></th><td>learner, dropped</td>" in (await browser.get(f"/desk/{section}")).text
    await browser.post(f"/desk/{section}/people/{bob.id}/take-back")

    assert "Bob</a></th><td>learner</td>" in (await browser.get(f"/desk/{section}")).text


async def test_a_dropped_assistant_sees_nothing_of_the_section(
    browser: httpx2.AsyncClient, site: Site, section: SectionId
) -> None:
    cyd = await make_account(site, "Cyd")
    await join(site, section, cyd, Role.ASSISTANT)
    await sign_in(browser, "Cyd")
    before = await browser.get(f"/desk/{section}")

    await site.store.sections.drop(section, cyd.id, somebody(site))

    assert before.status_code == 200
    assert (await browser.get(f"/desk/{section}")).status_code == 404
    assert "Spring" not in (await browser.get("/desk")).text + (await browser.get("/me/account")).text


async def test_an_archived_section_is_read_and_refuses_every_write_but_its_opening(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    await sign_in(browser, "Ada")
    await browser.post(f"/desk/{section}/archive", data={"act": "archive"})
    ids = re.compile(r"\{(?!section)[^}]*\}")
    routes = [
        (method, ids.sub("0" * 32, route.path).replace("{section}", section), RULES[route.path])  # type: ignore[attr-defined]
        for router in DESK
        for route in router.routes
        for method in route.methods  # type: ignore[attr-defined]
        if "{section}" in route.path  # type: ignore[attr-defined]
    ]

    writes = [(path, rule) for method, path, rule in routes if method not in ("GET", "HEAD")]
    refused = {path: await browser.post(path) for path, rule in writes if not rule.even_archived}
    assert {path: answer.status_code for path, answer in refused.items()} == dict.fromkeys(refused, 409)
    assert all("This section is archived" in answer.text for answer in refused.values())
    assert [path for path, rule in writes if rule.even_archived] == [f"/desk/{section}/archive"]
    page = await browser.get(f"/desk/{section}")
    assert "This section is archived: you can read everything" in page.text
    assert f'action="/desk/{section}/people"' not in page.text

    await browser.post(f"/desk/{section}/archive", data={"act": "reopen"})
    assert (await browser.post(f"/desk/{section}/code", data={"act": "renew"})).status_code == 303


async def test_a_learner_is_told_that_nobody_leaves_an_archived_section(
    browser: httpx2.AsyncClient, site: Site, section: SectionId
) -> None:
    bob = await make_account(site, "Bob")
    await join(site, section, bob, Role.LEARNER)
    await site.store.sections.archive(section, somebody(site))
    await sign_in(browser, "Bob")

    answer = await browser.post("/me/offers", data={"section": section, "accept": "false"})

    assert answer.status_code == 422
    assert "Spring is archived: nobody joins or leaves it." in answer.text
    assert await site.store.sections.find_role(section, bob.id) is not None


async def test_a_new_section_starts_from_the_last_term_s_plan_with_its_dates_moved(
    browser: httpx2.AsyncClient, site: Site, ada: Account
) -> None:
    """18:00 in Berlin stays 18:00, though one term is in summer time and the other is not."""
    plan = SectionPlan("Spring", "Europe/Berlin", date(2026, 6, 1), date(2026, 7, 1), 15, 20, True)
    me = Actor(ada.id, site.clock())
    former = await site.store.sections.make_own(plan, me)
    due_at = datetime(2026, 6, 12, 18, tzinfo=ZoneInfo("Europe/Berlin"))
    assignment = Assignment("", Kind.EXERCISE, "relu", "ReLU", 10.0, due_at=due_at, published=True)
    await site.store.assignments.make(former, [assignment], me)
    await sign_in(browser, "Ada")
    shown = await browser.get(f"/desk/new?from={former}")
    form = {**FORM, "from": former, "zone": "Europe/Berlin", "starts_on": "2026-11-30", "ends_on": ""}

    forgot = await browser.post("/desk/new", data={**form, "starts_on": ""})
    made = await browser.post("/desk/new", data=form)

    assert "the assignments of <strong>Spring</strong>" in shown.text
    assert forgot.status_code == 422
    assert "Spring began on 2026-06-01." in forgot.text
    new = SectionId(made.headers["location"].removeprefix("/desk/"))
    (copied,) = await site.store.assignments.of_section(new)
    assert copied.due_at == datetime(2026, 12, 11, 18, tzinfo=ZoneInfo("Europe/Berlin"))
    assert (copied.target, copied.points) == ("relu", 10.0)
    assert [person.name for person in await site.store.sections.people(new)] == ["Ada"]


async def test_nobody_copies_a_section_of_others(
    browser: httpx2.AsyncClient, site: Site, ada: Account, section: SectionId
) -> None:
    foreign = await site.store.sections.make("Foreign", somebody(site))
    await join(site, foreign, ada, Role.ASSISTANT)
    await sign_in(browser, "Ada")

    answers = [await browser.post("/desk/new", data={**FORM, "from": one}) for one in (foreign, "0" * 32)]

    assert [answer.status_code for answer in answers] == [404, 404]
    assert await site.store.sections.make_copy(foreign, SectionPlan("x"), Actor(ada.id, site.clock())) is None


async def test_a_former_learner_who_deletes_their_account_closes_it_and_keeps_the_school_s_record(
    browser: httpx2.AsyncClient, site: Site, section: SectionId
) -> None:
    bob = await make_account(site, "Bob")
    await join(site, section, bob, Role.LEARNER)
    await site.store.sections.leave(section, Actor(bob.id, site.clock()))
    await sign_in(browser, "Bob")

    deleted = await browser.post("/me/delete")

    assert deleted.headers["location"] == "/me?closed=true"
    assert await site.store.accounts.find(bob.id) is None
    assert [one.name for one in await site.store.sections.people(section)] == ["Bob"]

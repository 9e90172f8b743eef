"""Assignments at the desk: several at once, on the section's clock, with extensions that are explained."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from people import join, make_account, sign_in, somebody
from site_parts import StoppedClock
from sqlalchemy import text

from app.access.permissions import Role
from app.learning.grading import Allowance, Assignment, Counts, Credit, Kind
from app.storage.records import Account, SectionId
from app.web.edge.site import Site
from graders.ledger import Database

CHAPTER = "a-first-graph"
LAB = Assignment("", Kind.EXERCISE, "double", "Double", points=10)


async def set_up(site: Site, **columns: object) -> SectionId:
    """A section whose columns are as given."""
    section = await site.store.sections.make("ML 101", somebody(site))
    database = Database(site.settings.database)
    for name, value in {"zone": "Europe/Zurich", **columns}.items():
        statement = text(f"UPDATE sections SET {name} = :value WHERE id = :id")
        await database.write(
            lambda connection, statement=statement, value=value: connection.execute(
                statement, {"value": value, "id": section}
            )
        )
    await database.close()
    return section


@pytest.fixture
async def section(site: Site) -> SectionId:
    return await set_up(site)


@pytest.fixture
async def instructor(site: Site, section: SectionId, browser: httpx2.AsyncClient) -> Account:
    account = await make_account(site, "Ines")
    await join(site, section, account, Role.INSTRUCTOR)
    await sign_in(browser, "Ines")
    return account


async def make_learner(site: Site, section: SectionId, name: str = "Lea") -> Account:
    account = await make_account(site, name)
    await join(site, section, account, Role.LEARNER)
    return account


async def assign(site: Site, section: SectionId, *new: Assignment) -> tuple[Assignment, ...]:
    await site.store.assignments.make(section, new, somebody(site))
    return await site.store.assignments.of_section(section)


async def test_the_empty_list_says_what_to_do(
    browser: httpx2.AsyncClient, section: SectionId, instructor: Account
) -> None:
    page = (await browser.get(f"/desk/{section}/assignments")).text

    assert "Nothing is assigned yet." in page
    assert f'href="/desk/{section}/assignments/new"' in page


async def test_several_are_assigned_at_once_with_times_of_the_section(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, instructor: Account
) -> None:
    form = {
        "target": ["exercise:double", f"retrieval:{CHAPTER}", f"predictions:{CHAPTER}"],
        "points": "2,5",
        "due_at": "2026-07-01T18:00",
        "closes_at": "2026-07-08T18:00",
        "counts": "done",
        "published": "true",
    }

    answer = await browser.post(f"/desk/{section}/assignments/new", data=form)
    made = await site.store.assignments.of_section(section)
    page = (await browser.get(f"/desk/{section}/assignments")).text

    assert answer.status_code == 303
    assert [(one.kind, one.credit, one.counts, one.points) for one in made] == [
        (Kind.EXERCISE, Credit.WHOLE, Counts.DONE, 2.5),
        (Kind.RETRIEVAL, Credit.SHARE, Counts.DONE, 2.5),
        (Kind.PREDICTIONS, Credit.SHARE, Counts.DONE, 2.5),
    ]
    assert {one.due_at for one in made} == {datetime(2026, 7, 1, 16, tzinfo=UTC)}
    assert page.count("Wed 1 Jul 2026 18:00 (Europe/Zurich)") == 3
    assert "questions answered at all, each counts its part" in page


async def test_an_instructor_elsewhere_sees_the_deadline_on_their_own_clock_too(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, instructor: Account
) -> None:
    await assign(site, section, replace(LAB, due_at=datetime(2026, 12, 4, 17, tzinfo=UTC)))
    before = (await browser.get(f"/desk/{section}/assignments")).text
    await site.store.review_cards.set_zone(instructor.learner, "Asia/Tokyo")
    after = (await browser.get(f"/desk/{section}/assignments")).text

    assert "for you" not in before
    assert "for you Sat 5 Dec 2026 02:00 (Asia/Tokyo)" in after


async def test_what_is_assigned_already_cannot_be_ticked_again(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, instructor: Account
) -> None:
    await assign(site, section, LAB)

    page = (await browser.get(f"/desk/{section}/assignments/new")).text

    assert re.search(r'value="exercise:double" disabled', page)
    assert page.count("assigned already") == 1


def ticked(page: str) -> set[str]:
    return set(re.findall(r'value="exercise:([a-z-]+)" checked', page))


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", set()),
        ("set=two-of-three", {"pull-back", "early-meetings"}),
        ("set=no-such-set", set()),
        ("concept=&kind=&difficulty=", set()),
        ("concept=&kind=bug-hunt&difficulty=", {"early-meetings"}),
        ("difficulty=first+steps", {"early-meetings"}),
        ("concept=recording&difficulty=first+steps", set()),
    ],
)
async def test_a_set_or_a_filter_ticks_what_is_not_assigned_yet(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, instructor: Account, query: str, names: set[str]
) -> None:
    await assign(site, section, LAB)

    page = (await browser.get(f"/desk/{section}/assignments/new?{query}")).text

    assert ticked(page) == names
    assert f'href="/desk/{section}/assignments/new?set=two-of-three#assign-what">Two of three (2)</a>' in page


async def test_a_set_is_assigned_with_one_form_and_shown_to_learners(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, instructor: Account
) -> None:
    await make_learner(site, section)
    names = ticked((await browser.get(f"/desk/{section}/assignments/new?set=two-of-three")).text)
    form = {"points": "4", "due_at": "2026-07-01T18:00", "published": "true"}
    target = [f"exercise:{name}" for name in sorted(names)]

    await browser.post(f"/desk/{section}/assignments/new", data={**form, "target": target})
    made = await site.store.assignments.of_section(section)
    await sign_in(browser, "Lea")
    grades = (await browser.get("/me/grades")).text

    assert [(one.target, one.points) for one in made] == [("early-meetings", 4), ("pull-back", 4)]
    assert {one.due_at for one in made} == {datetime(2026, 7, 1, 16, tzinfo=UTC)}
    assert all(one.title in grades for one in made)


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"target": []}, "Tick at least one exercise"),
        ({"target": ["exercise:nothing"]}, "“exercise:nothing” is not in this course"),
        ({"target": ["play:double"]}, "“play:double” is not in this course"),
        ({"points": "ten"}, "Points: “ten” is no number"),
        ({"points": "nan"}, "Points: nan is not from 0 to 1000."),
        ({"due_at": "tomorrow"}, "“tomorrow” as the due date is no time"),
        ({"due_at": "2026-07-01T18:00+02:00"}, "as the due date is no time"),
        ({"due_at": "2026-07-02T18:00", "closes_at": "2026-07-01T18:00"}, "The closing is before the due date"),
        ({"opens_at": "2026-07-02T18:00", "closes_at": "2026-07-01T18:00"}, "The closing is before the opening"),
        ({"late_percent_a_day": "101"}, "is not a whole number from 0 to 100."),
        ({"attempts": "0"}, "is not a whole number from 1 to 1000."),
    ],
)
async def test_a_mistake_is_named_and_what_was_typed_stays(
    browser: httpx2.AsyncClient,
    site: Site,
    section: SectionId,
    instructor: Account,
    sent: dict[str, object],
    sentence: str,
) -> None:
    form = {"target": ["exercise:double"], "points": "7", "published": "true", **sent}

    answer = await browser.post(f"/desk/{section}/assignments/new", data=form)

    assert answer.status_code == 422
    assert sentence in answer.text
    assert 'value="exercise:double" checked' in answer.text or "target" in sent
    assert await site.store.assignments.of_section(section) == ()


async def test_a_form_shows_the_times_that_it_reads(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, instructor: Account
) -> None:
    (lab,) = await assign(site, section, replace(LAB, due_at=datetime(2026, 12, 4, 17, tzinfo=UTC), attempts=3))
    page = (await browser.get(f"/desk/{section}/assignments/{lab.id}")).text
    values = dict(re.findall(r'<input id="\w+" name="(\w+)"[^>]* value="([^"]*)"', page))

    answer = await browser.post(f"/desk/{section}/assignments/{lab.id}/change", data=values | {"published": "true"})

    assert answer.status_code == 303
    assert values["due_at"] == "2026-12-04T18:00"
    assert await site.store.assignments.of_section(section) == (lab,)


async def test_an_assignment_is_changed_hidden_moved_and_deleted(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, instructor: Account
) -> None:
    lab, guesses = await assign(site, section, LAB, Assignment("", Kind.PREDICTIONS, CHAPTER, "Guesses", points=1))
    base = f"/desk/{section}/assignments"

    await browser.post(f"{base}/{lab.id}/change", data={"title": "Twice", "points": "4", "credit": "share"})
    await browser.post(f"{base}/{guesses.id}/move", data={"to": "up"})
    page = (await browser.get(base)).text

    assert re.search(r"Guesses.*Twice", page, re.DOTALL)
    assert "hidden from learners" in page
    assert "each case counts its part" in page
    assert (await browser.post(f"{base}/{lab.id}/delete")).status_code == 303
    assert [one.id for one in await site.store.assignments.of_section(section)] == [guesses.id]
    assert (await browser.get(f"{base}/{lab.id}")).status_code == 404


async def test_an_assignment_that_somebody_has_an_extension_for_is_not_deleted(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, instructor: Account
) -> None:
    (lab,) = await assign(site, section, LAB)
    lea = await make_learner(site, section)
    await site.store.assignments.grant(section, lab.id, lea.id, Allowance(excused=True, reason="r"), somebody(site))

    answer = await browser.post(f"/desk/{section}/assignments/{lab.id}/delete")

    assert answer.status_code == 422
    assert "hide it instead of deleting" in answer.text


async def test_three_days_more_are_the_same_time_of_day_for_both_dates(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, instructor: Account
) -> None:
    """The clocks change on 29 March between the two."""
    due = datetime(2026, 3, 27, 17, tzinfo=UTC)
    (lab,) = await assign(site, section, replace(LAB, due_at=due, closes_at=due + timedelta(days=1)))
    lea = await make_learner(site, section)
    form = {"account": lea.id, "days": "3", "reason": " ill,  with a note "}

    answer = await browser.post(f"/desk/{section}/assignments/{lab.id}/allowances", data=form)
    page = (await browser.get(f"/desk/{section}/assignments/{lab.id}")).text
    (granted,) = await site.store.assignments.granted(section, lab.id)

    assert answer.status_code == 303
    assert granted.allowance == Allowance(
        due_at=datetime(2026, 3, 30, 16, tzinfo=UTC),
        closes_at=datetime(2026, 3, 31, 16, tzinfo=UTC),
        reason="ill, with a note",
    )
    assert "due Mon 30 Mar 2026 18:00 (Europe/Zurich)" in page
    assert ">Ines<" in page


@pytest.mark.parametrize(
    ("sent", "sentence"),
    [
        ({"reason": "  "}, "Write a reason"),
        ({"days": ""}, "Write what is granted"),
        ({"days": "-1"}, "is not a whole number from 1 to 366."),
        ({"days": "3"}, "no due date to which days could be added"),
        ({"account": "0" * 32}, "Choose a learner of this section."),
    ],
)
async def test_an_extension_needs_a_learner_a_reason_and_something_to_grant(
    browser: httpx2.AsyncClient,
    site: Site,
    section: SectionId,
    instructor: Account,
    sent: dict[str, str],
    sentence: str,
) -> None:
    (lab,) = await assign(site, section, LAB)
    lea = await make_learner(site, section)
    form = {"account": lea.id, "attempts": "" if "days" in sent else "5", "reason": "ill", **sent}

    answer = await browser.post(f"/desk/{section}/assignments/{lab.id}/allowances", data=form)

    assert answer.status_code == 422
    assert sentence in answer.text
    assert await site.store.assignments.granted(section, lab.id) == ()


async def test_an_allowance_is_taken_back_with_a_reason(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, instructor: Account
) -> None:
    (lab,) = await assign(site, section, LAB)
    lea = await make_learner(site, section)
    await site.store.assignments.grant(section, lab.id, lea.id, Allowance(excused=True, reason="r"), somebody(site))
    address = f"/desk/{section}/assignments/{lab.id}/allowances/withdraw"

    without = await browser.post(address, data={"account": lea.id, "reason": ""})
    taken = await browser.post(address, data={"account": lea.id, "reason": "wrong person"})
    again = await browser.post(address, data={"account": lea.id, "reason": "wrong person"})

    assert [without.status_code, taken.status_code, again.status_code] == [422, 303, 404]


@pytest.mark.parametrize("may_extend", [False, True])
async def test_assistants_extend_only_where_the_section_says_so(
    browser: httpx2.AsyncClient, site: Site, may_extend: bool
) -> None:
    section = await set_up(site, assistants_extend=may_extend)
    (lab,) = await assign(site, section, LAB)
    lea, assistant = await make_learner(site, section), await make_account(site, "Ana")
    await join(site, section, assistant, Role.ASSISTANT)
    await sign_in(browser, "Ana")
    address = f"/desk/{section}/assignments/{lab.id}"

    page = (await browser.get(address)).text
    form = {"account": lea.id, "excused": "true", "reason": "ill"}
    answer = await browser.post(f"{address}/allowances", data=form)

    assert ("Grant one" in page) is may_extend
    assert "Save" not in page
    assert answer.status_code == (303 if may_extend else 403)
    assert len(await site.store.assignments.granted(section, lab.id)) == may_extend


async def test_an_assignment_of_another_section_is_not_found_at_one_s_own_desk(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, instructor: Account
) -> None:
    foreign = await set_up(site)
    (lab,) = await assign(site, foreign, LAB)
    lea = await make_learner(site, section)
    base, form = f"/desk/{section}/assignments/{lab.id}", {"account": lea.id, "excused": "true", "reason": "r"}

    found = [(await browser.get(base)).status_code]
    for act in ("change", "delete", "move", "allowances", "allowances/withdraw"):
        found.append((await browser.post(f"{base}/{act}", data={**form, "points": "1"})).status_code)

    assert found == [404] * 6
    assert await site.store.assignments.of_section(foreign) == (lab,)


async def test_a_chapter_a_week_is_due_at_the_same_time_of_day_across_a_change_of_the_clocks(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, instructor: Account
) -> None:
    """The exercise belongs to the second chapter, and the clocks change on 29 March."""
    form = {
        "target": [f"retrieval:{CHAPTER}", f"predictions:{CHAPTER}", "retrieval:a-second-look", "exercise:double"],
        "points": "1",
        "due_at": "2026-03-27T18:00",
        "days_between": "7",
    }

    answer = await browser.post(f"/desk/{section}/assignments/new", data=form)
    made = await site.store.assignments.of_section(section)
    refused = await browser.post(f"/desk/{section}/assignments/new", data={**form, "days_between": "61"})

    first, second = datetime(2026, 3, 27, 17, tzinfo=UTC), datetime(2026, 4, 3, 16, tzinfo=UTC)
    assert answer.status_code == 303
    assert [one.due_at for one in made] == [first, first, second, second]
    assert "is not a whole number from 0 to 60." in refused.text
    assert 'value="61"' in refused.text


async def test_the_preview_has_what_a_learner_without_work_sees(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, instructor: Account, clock: StoppedClock
) -> None:
    soon = replace(LAB, target="pull-back", title="Later", opens_at=clock.now + timedelta(days=1))
    hidden = Assignment("", Kind.PREDICTIONS, CHAPTER, "Hidden", points=1, published=False)
    await assign(site, section, replace(LAB, due_at=clock.now - timedelta(hours=1)), soon, hidden)

    page = (await browser.get(f"/desk/{section}/assignments/preview")).text

    assert "Nothing handed in yet." in page
    assert "A submission now counts 10 % less." in page
    assert "Later" not in page
    assert "Hidden" not in page

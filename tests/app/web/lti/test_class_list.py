"""The class list of a platform: shown first, taken over as shown; only its own people are ever dropped."""

import re
from typing import Any

import httpx2
import pytest
from fake_platform import ADA, BOB, ISSUER, LEARNER, FakePlatform, enter, make_linked_section, person, register
from people import join, make_account, somebody
from site_parts import StoppedClock

from app.access.permissions import Role
from app.learning.roster import Entry
from app.linking.lti import NAMES
from app.storage.records import SectionId, Status
from app.web.edge.site import Site


def member(subject: str, name: str = "", **more: Any) -> dict[str, Any]:
    named = {"name": name} if name else {}
    return {"user_id": subject, "roles": [LEARNER], "status": "Active", **named, **more}


PEOPLE = [member("bob-2", "Bob Babbage"), member("cyd-3", "Cyd Curie"), member("dan-4", "Dan Dirac")]


@pytest.fixture
def platform() -> FakePlatform:
    return FakePlatform(members=[*PEOPLE, member("ada-1", "Ada Lovelace", roles=["Instructor"])])


@pytest.fixture
async def section(browser: httpx2.AsyncClient, site: Site, platform: FakePlatform) -> SectionId:
    await register(site, platform)
    return await make_linked_section(site, browser, platform)


async def address(site: Site, section: SectionId) -> str:
    (course,) = await site.store.lti_courses.of_section(section)
    return f"/desk/{section}/platform/{course.id}/roster"


async def look(browser: httpx2.AsyncClient, site: Site, section: SectionId) -> str:
    page = await browser.post(await address(site, section))
    assert page.status_code == 200, page.text
    return page.text


async def take_over(browser: httpx2.AsyncClient, site: Site, section: SectionId, page: str, **form: str) -> int:
    found = re.search(r'name="digest" value="(\w+)"', page)
    assert found, page
    data = {"digest": found.group(1), **form}
    return (await browser.post(f"{await address(site, section)}/apply", data=data)).status_code


async def names(site: Site, section: SectionId) -> list[str]:
    return [line.entry.name for line in await site.store.rosters.lines(section) if line.dropped_at is None]


async def statuses(site: Site, section: SectionId) -> dict[str, str]:
    return {one.name: one.status.value for one in await site.store.sections.people(section)}


async def test_a_list_is_shown_first_then_taken_over_and_once_more_changes_nothing(
    browser: httpx2.AsyncClient, site: Site, section: SectionId
) -> None:
    page = await look(browser, site, section)
    assert "3 new" in page
    assert await names(site, section) == []

    assert await take_over(browser, site, section, page) == 303

    assert await names(site, section) == ["Bob Babbage", "Cyd Curie", "Dan Dirac"]
    again = await look(browser, site, section)
    assert "3 unchanged" in again
    assert "Take it over" not in again


async def test_every_page_of_the_list_is_read(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, platform: FakePlatform
) -> None:
    platform.members = [member(f"p-{number}", f"Person {number}") for number in range(13)]

    assert "13 new" in await look(browser, site, section)
    assert platform.asked.count("/members") == 7


async def test_whoever_has_come_is_the_line_of_the_list(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, section: SectionId
) -> None:
    await take_over(browser, site, section, await look(browser, site, section))
    await enter(stranger, FakePlatform(), BOB)

    lines = {line.entry.name: line.account_name for line in await site.store.rosters.lines(section)}
    assert lines == {"Bob Babbage": "Bob Babbage", "Cyd Curie": "", "Dan Dirac": ""}


async def test_whoever_came_before_the_course_was_linked_is_a_line_of_the_list_too(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, platform: FakePlatform
) -> None:
    await register(site, platform)
    await enter(stranger, platform, BOB)
    section = await make_linked_section(site, browser, platform)

    await take_over(browser, site, section, await look(browser, site, section))

    lines = {line.entry.name: line.account_name for line in await site.store.rosters.lines(section)}
    assert lines == {"Bob Babbage": "Bob Babbage", "Cyd Curie": "", "Dan Dirac": ""}


async def test_whom_the_platform_lists_no_more_is_dropped_and_comes_back_by_a_launch(
    browser: httpx2.AsyncClient,
    stranger: httpx2.AsyncClient,
    site: Site,
    section: SectionId,
    platform: FakePlatform,
) -> None:
    await enter(stranger, platform, BOB)
    await take_over(browser, site, section, await look(browser, site, section))
    platform.members = PEOPLE[1:]
    page = await look(browser, site, section)
    assert "1 dropped" in page
    assert "more than a third" not in page

    assert await take_over(browser, site, section, page) == 303

    assert await names(site, section) == ["Cyd Curie", "Dan Dirac"]
    assert (await statuses(site, section))["Bob Babbage"] == Status.DROPPED
    await enter(stranger, platform, BOB)
    assert (await statuses(site, section))["Bob Babbage"] == Status.ACTIVE
    assert "Bob Babbage" in await names(site, section)


async def test_whom_the_staff_dropped_no_list_brings_back(
    browser: httpx2.AsyncClient,
    stranger: httpx2.AsyncClient,
    site: Site,
    section: SectionId,
    platform: FakePlatform,
) -> None:
    """Not even one that left them out in between."""
    await enter(stranger, platform, BOB)
    await take_over(browser, site, section, await look(browser, site, section))
    people = {one.name: one.account for one in await site.store.sections.people(section)}
    await site.store.sections.drop(section, people["Bob Babbage"], somebody(site))

    assert "comes back" not in await look(browser, site, section)
    for listed in (PEOPLE[1:], PEOPLE):
        platform.members = listed
        page = await look(browser, site, section)
        assert "Take it over" not in page or await take_over(browser, site, section, page) == 303
    await enter(stranger, platform, BOB)

    assert (await statuses(site, section))["Bob Babbage"] == Status.DROPPED
    (line,) = [one for one in await site.store.rosters.lines(section) if one.entry.name == "Bob Babbage"]
    assert line.dropped_at is not None


async def test_somebody_inactive_or_without_a_name_is_dropped_too(
    browser: httpx2.AsyncClient,
    stranger: httpx2.AsyncClient,
    site: Site,
    section: SectionId,
    platform: FakePlatform,
) -> None:
    nameless = person("eve-5", "", LEARNER)
    await enter(stranger, platform, nameless)
    platform.members = [*PEOPLE, member("eve-5")]
    await take_over(browser, site, section, await look(browser, site, section))
    assert (await statuses(site, section))["Learner"] == Status.ACTIVE

    platform.members = [*PEOPLE, member("eve-5", status="Inactive")]
    await take_over(browser, site, section, await look(browser, site, section))
    assert (await statuses(site, section))["Learner"] == Status.DROPPED


async def test_a_list_that_drops_more_than_a_third_is_asked_about_twice(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, platform: FakePlatform
) -> None:
    await take_over(browser, site, section, await look(browser, site, section))
    platform.members = PEOPLE[:1]
    page = await look(browser, site, section)
    assert "It is right that more than a third" in page

    assert await take_over(browser, site, section, page) == 422
    assert len(await names(site, section)) == 3
    assert await take_over(browser, site, section, page, sure="true") == 303
    assert await names(site, section) == ["Bob Babbage"]


async def test_a_list_that_changed_since_it_was_shown_is_shown_again(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, platform: FakePlatform
) -> None:
    page = await look(browser, site, section)
    platform.members = [*PEOPLE, member("fay-6", "Fay")]

    assert await take_over(browser, site, section, page) == 422
    assert await names(site, section) == []


async def test_people_of_another_way_in_and_staff_are_never_dropped(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, platform: FakePlatform
) -> None:
    for name, role in (("Gil", Role.LEARNER), ("Hal", Role.ASSISTANT)):
        await join(site, section, await make_account(site, name), role)
    await site.store.rosters.apply(section, [Entry("Ida")], somebody(site), drop_missing=False)
    await take_over(browser, site, section, await look(browser, site, section))
    platform.members = PEOPLE[:2]
    await take_over(browser, site, section, await look(browser, site, section), sure="true")

    assert {name for name, status in (await statuses(site, section)).items() if status == Status.ACTIVE} == {
        "Ada Lovelace",
        "Gil",
        "Hal",
    }
    assert await names(site, section) == ["Bob Babbage", "Cyd Curie", "Ida"]


async def test_a_name_that_changed_there_changes_here(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, platform: FakePlatform
) -> None:
    await take_over(browser, site, section, await look(browser, site, section))
    platform.members[1] = member("cyd-3", "Cyd Skłodowska")

    await take_over(browser, site, section, await look(browser, site, section))

    assert "Cyd Skłodowska" in await names(site, section)
    assert len(await names(site, section)) == 3


async def test_a_next_page_at_another_server_ends_the_list(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, platform: FakePlatform, clock: StoppedClock
) -> None:
    real = platform.answer

    def lead_away(request: httpx2.Request) -> httpx2.Response:
        answer = real(request)
        if request.url.path == "/members":
            answer.headers["link"] = '<https://evil.example/members>; rel="next"'
        assert request.url.host != "evil.example"
        return answer

    site.platforms._http = httpx2.AsyncClient(transport=httpx2.MockTransport(lead_away))
    refused = await browser.post(await address(site, section))

    assert refused.status_code == 422
    assert "leads to another server" in refused.text


async def test_a_platform_without_a_list_is_said(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, platform: FakePlatform
) -> None:
    await register(site, platform)
    platform.claims = {NAMES: None}
    section = await make_linked_section(site, browser, platform)

    refused = await browser.post(await address(site, section))
    assert (refused.status_code, "offers no class list" in refused.text) == (422, True)

    platform.claims = {}
    await enter(browser, platform, ADA)
    platform.claims = {NAMES: None}
    await enter(browser, platform, ADA)
    (course,) = await site.store.lti_courses.of_section(section)
    assert course.memberships_url == f"{ISSUER}/members"

"""The audit is searched by who, what, whom and when, a page at a time; a section's has its own lines alone."""

from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from people import join, make_account, sign_in, somebody
from site_parts import StoppedClock

from app.access.permissions import Role
from app.storage.audit import Actor, AuditFilter
from app.storage.records import Account, SectionId, SectionPlan
from app.web.desk.audit import SHOWN
from app.web.edge.site import Site


@pytest.fixture
async def ada(site: Site) -> Account:
    return await make_account(site, "Ada Lovelace")


@pytest.fixture
async def section(site: Site, ada: Account) -> SectionId:
    """Of Ada; in Auckland a day begins half a day before it does in UTC."""
    return await site.store.sections.make_own(SectionPlan("Spring", "Pacific/Auckland"), Actor(ada.id, site.clock()))


async def find(site: Site, **wanted: object) -> list[tuple[str, str]]:
    lines = await site.store.audit.find(AuditFilter(**wanted), 50)  # type: ignore[arg-type]
    return [(line.verb, line.object) for line in lines]


async def test_lines_are_found_by_who_what_and_whom(site: Site, ada: Account, section: SectionId) -> None:
    bob = await make_account(site, "Bob")
    me = Actor(ada.id, site.clock())
    await join(site, section, bob, Role.LEARNER)
    await site.store.sections.drop(section, bob.id, me)
    await site.store.sections.set_code(section, "ABCD2345", me)

    assert await find(site, who="LOVELACE", what="drop a person") == [("drop a person", "Bob")]
    assert await find(site, who="bob") == [("accept a role", "Bob")]
    assert await find(site, whom="spri") == []
    assert {verb for verb, _ in await find(site, whom="bo")} == {
        "drop a person",
        "accept a role",
        "offer or change a role",
    }
    assert await find(site, who="%") == []
    assert ("make a section", "Spring") in await find(site, whom=section)


async def test_days_are_those_of_the_section_s_zone(
    browser: httpx2.AsyncClient, site: Site, ada: Account, section: SectionId, clock: StoppedClock
) -> None:
    noon_utc = datetime(2026, 5, 5, 13, tzinfo=UTC)
    await site.store.sections.set_code(section, "ABCD2345", Actor(ada.id, noon_utc))
    await sign_in(browser, "Ada Lovelace")

    pages = {
        day: (await browser.get(f"/desk/{section}/audit?since=2026-05-0{day}&until=2026-05-0{day}")).text
        for day in (4, 5, 6)
    }

    assert [day for day, page in pages.items() if "<td>make a code to join</td>" in page] == [6]
    assert "2026-05-06 01:00" in pages[6]
    assert "Times are in Pacific/Auckland." in pages[6]


async def test_older_lines_are_a_page_away_and_the_search_stays(
    browser: httpx2.AsyncClient, site: Site, ada: Account, section: SectionId
) -> None:
    for number in range(SHOWN + 5):
        at = site.clock() + timedelta(minutes=number)
        await site.store.sections.set_code(section, f"CODE{number}", Actor(ada.id, at))
    await sign_in(browser, "Ada Lovelace")

    first = (await browser.get(f"/desk/{section}/audit?what=make+a+code+to+join&who=ada")).text
    href = first.split('href="')[-1].split('">Older lines')[0] if "Older lines" in first else ""
    link = next(part.split('"')[0] for part in first.split('href="') if "before=" in part)
    second = (await browser.get(link.replace("&amp;", "&"))).text

    assert href
    assert first.count("<td>make a code to join</td>") == SHOWN
    assert second.count("<td>make a code to join</td>") == 5
    assert "make a section" not in second.split("<table>")[1]
    assert "Older lines" not in second


async def test_a_section_s_audit_has_its_own_lines_alone(
    browser: httpx2.AsyncClient, site: Site, ada: Account, section: SectionId
) -> None:
    foreign = await site.store.sections.make("Foreign", somebody(site))
    zed = await make_account(site, "Zenobia")
    await join(site, foreign, zed, Role.LEARNER)
    await sign_in(browser, "Ada Lovelace")

    page = (await browser.get(f"/desk/{section}/audit")).text
    searched = (await browser.get(f"/desk/{section}/audit?whom=Zenobia&who=")).text

    assert "make a section" in page
    assert "Zenobia" not in page
    assert "No line fits." in searched
    assert "accept a role" not in searched


@pytest.mark.parametrize("since", ["yesterday", "0001-01-01", "9999-12-31"])
async def test_a_day_that_is_none_is_refused_in_words(
    browser: httpx2.AsyncClient, site: Site, ada: Account, section: SectionId, since: str
) -> None:
    await sign_in(browser, "Ada Lovelace")

    answer = await browser.get(f"/desk/{section}/audit?until={since}")

    assert answer.status_code == 422
    assert "write a date from 2000 on, such as 2027-02-01." in answer.text


async def test_the_operator_searches_everybody_s_lines(
    browser: httpx2.AsyncClient, site: Site, section: SectionId
) -> None:
    await make_account(site, "Eve", is_operator=True)
    await sign_in(browser, "Eve")

    page = await browser.get("/operator/audit?who=lovelace")

    assert "<td>make a section</td><td>Spring</td>" in page.text
    assert "Times are in UTC." in page.text

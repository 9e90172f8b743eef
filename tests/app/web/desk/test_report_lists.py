"""The list of reports: what changed since, closing with a sentence, and each section for its own instructor."""

from dataclasses import replace

import httpx2
import pytest
from people import join, make_account, sign_in, somebody

from app.access.permissions import Role
from app.course.model import Course
from app.storage.records import Account, SectionId
from app.storage.reports import Report
from app.web.desk.reports import show_report, write_markdown
from app.web.edge.site import Site

PAGE = "chapters/a-first-graph"


@pytest.fixture
async def eve(site: Site, browser: httpx2.AsyncClient) -> Account:
    """The operator, signed in."""
    account = await make_account(site, "Eve", is_operator=True)
    await sign_in(browser, "Eve")
    return account


def make_report(site: Site, course: Course, text: str, block: str = "how-many-nodes") -> Report:
    known = course.index.by_slug["a-first-graph"].hashes
    return Report(0, PAGE, block, known.get(block, "0" * 16), course.version, text, site.clock())


async def add_report(site: Site, course: Course, account: Account, text: str) -> None:
    assert await site.store.reports.add(account.learner, make_report(site, course, text))


async def test_closing_takes_a_sentence_and_reopening_takes_it_back(
    browser: httpx2.AsyncClient, site: Site, course: Course, eve: Account
) -> None:
    await add_report(site, course, eve, "The sum is 7.")
    assert "The sum is 7." in (await browser.get("/operator/reports")).text

    empty = await browser.post("/operator/reports", data={"number": 1, "act": "close", "note": " "})
    closed = await browser.post("/operator/reports", data={"number": 1, "act": "close", "note": "Says 7 now."})
    again = await browser.post("/operator/reports", data={"number": 1, "act": "close", "note": "Says 8."})

    assert (empty.status_code, closed.status_code, again.status_code) == (422, 303, 404)
    assert "0 reports" in (await browser.get("/operator/reports")).text
    assert "Says 7 now." in (await browser.get("/operator/reports?state=closed")).text
    await browser.post("/operator/reports", data={"number": 1, "act": "reopen"})
    assert "1 report." in (await browser.get("/operator/reports")).text


@pytest.mark.parametrize("number", ["0", "-1", str(2**31), str(2**63), "9" * 30])
async def test_a_number_that_no_report_can_have_is_refused_in_words(
    browser: httpx2.AsyncClient, eve: Account, number: str
) -> None:
    for act in ("close", "reopen"):
        refused = await browser.post("/operator/reports", data={"number": number, "act": act, "note": "Done."})
        assert refused.status_code == 422
        assert "Number:" in refused.text


async def test_the_list_keeps_one_page_and_one_state(
    browser: httpx2.AsyncClient, site: Site, course: Course, eve: Account
) -> None:
    await add_report(site, course, eve, "in the chapter")
    term = replace(make_report(site, course, "in the glossary"), page="glossary", block="leaf")
    await site.store.reports.add(eve.learner, term)

    listed = (await browser.get("/operator/reports?page=glossary")).text
    markdown = (await browser.get("/operator/reports.md?page=glossary")).text

    assert "in the glossary" in listed
    assert "in the chapter" not in listed + markdown
    assert "> in the glossary\n" in markdown


async def test_an_instructor_has_the_reports_of_their_section(
    browser: httpx2.AsyncClient, site: Site, course: Course
) -> None:
    ada, bob, cyd = [await make_account(site, name) for name in ("Ada", "Bob", "Cyd")]
    section = await site.store.sections.make("Spring", somebody(site))
    await join(site, section, ada, Role.INSTRUCTOR)
    await join(site, section, bob, Role.LEARNER)
    await add_report(site, course, bob, "of the section")
    await add_report(site, course, cyd, "of somebody else")
    await sign_in(browser, "Ada")

    listed = (await browser.get(f"/desk/{section}/reports")).text
    foreign = await browser.post(f"/desk/{section}/reports", data={"number": 2, "act": "close", "note": "x"})
    own = await browser.post(f"/desk/{section}/reports", data={"number": 1, "act": "close", "note": "x"})

    assert "of the section" in listed
    assert "Bob" not in listed
    assert "of somebody else" not in listed + (await browser.get(f"/desk/{section}/reports.md?state=all")).text
    assert (foreign.status_code, own.status_code) == (404, 303)
    assert f'href="/desk/{section}/reports"' in (await browser.get(f"/desk/{section}")).text


async def test_an_assistant_sees_no_link_to_the_reports(browser: httpx2.AsyncClient, site: Site) -> None:
    section: SectionId = await site.store.sections.make("Spring", somebody(site))
    await join(site, section, await make_account(site, "Ada"), Role.ASSISTANT)
    await sign_in(browser, "Ada")

    assert "reports" not in (await browser.get(f"/desk/{section}")).text


def change(course: Course, report: Report) -> Course:
    """The course with the reported block's wording changed."""
    module, chapter = course.modules[0], course.index.by_slug["a-first-graph"]
    blocks = tuple(
        replace(block, prompt="Another wording.") if key == report.block else block  # type: ignore[type-var, call-arg]
        for key, block in zip(chapter.keys, chapter.blocks, strict=True)
    )
    others = tuple(other for other in module.chapters if other is not chapter)
    changed = replace(module, chapters=(replace(chapter, blocks=blocks), *others))
    return replace(course, modules=(changed, *course.modules[1:]))


def test_a_report_says_whether_its_place_has_changed_since(site: Site, course: Course) -> None:
    report = make_report(site, course, "x")
    moved = replace(report, block="an-older-key")
    gone = replace(report, block="an-older-key", content_hash="f" * 16)

    assert show_report(course, report).wording == "unchanged since"
    assert show_report(change(course, report), report).wording == "changed since"
    assert (show_report(course, moved).wording, show_report(course, moved).href) == (
        "unchanged since",
        f"/{PAGE}#how-many-nodes",
    )
    assert (show_report(course, gone).wording, show_report(course, gone).href) == ("no longer there", "")


def test_the_export_quotes_what_readers_wrote(site: Site, course: Course) -> None:
    report = replace(make_report(site, course, "# not a *heading*\n<b>no</b> [link](x)"), number=7)
    closed = replace(report, closed_at=site.clock(), note="It says `7` now.")

    markdown = write_markdown([show_report(course, closed)])

    assert "> \\# not a \\*heading\\*\n> \\<b\\>no\\</b\\> \\[link\\](x)\n" in markdown
    assert "\nClosed 2026-03-01 12:00 UTC: It says \\`7\\` now.\n" in markdown
    assert markdown.startswith("# Reports\n\n## 7. ")

"""What staff see of what was handed in: their own section's learners, what they handed in there, and nothing else."""

import re
import time
from dataclasses import replace

import httpx2
import pytest
from handing_in import EXERCISE, LOOPS, MAPS, WRONG, end_membership, hand_in, make_class, staff
from people import join, make_account, sign_in, somebody

from app.access.permissions import Role
from app.web.desk.submissions import PEOPLE_SHOWN
from app.web.edge.site import Site
from graders.contract.results import Outcome


async def test_an_exercise_s_list_has_everybody_and_the_newest_of_each(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    section, people = await make_class(site, "Ada", "Bob", "Cyd")
    await staff(site, section, "Tess", Role.ASSISTANT)
    await hand_in(site, people["Ada"], WRONG, Outcome.WRONG_ANSWER)
    newest = await hand_in(site, people["Ada"], LOOPS)
    await hand_in(site, people["Bob"], WRONG, Outcome.WRONG_ANSWER)
    await sign_in(browser, "Tess")

    address = f"/desk/{section}/submissions/exercises/{EXERCISE}"
    page = (await browser.get(address)).text
    rows = re.findall(r'<th scope="row"><a [^>]*>(\w+)</a>.*?<td>(\d)</td>\s*<td>([\w ]*)</td>', page, re.DOTALL)

    assert rows == [("Bob", "1", "not yet"), ("Ada", "2", "yes"), ("Cyd", "0", "")]
    assert f'href="/desk/{section}/submissions/{newest}"' in page
    kept = {
        shown: [name for name in people if f">{name}</a>" in (await browser.get(f"{address}?shown={shown}")).text]
        for shown in ("passed", "not+passed+yet", "nothing+handed+in")
    }
    assert kept == {"passed": ["Ada"], "not+passed+yet": ["Bob"], "nothing+handed+in": ["Cyd"]}


async def test_a_submission_is_shown_with_its_verdict_and_what_changed(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    section, people = await make_class(site, "Ada")
    await staff(site, section, "Tess")
    await hand_in(site, people["Ada"], WRONG, Outcome.WRONG_ANSWER)
    newest = await hand_in(site, people["Ada"], LOOPS)
    await sign_in(browser, "Tess")

    page = (await browser.get(f"/desk/{section}/submissions/{newest}")).text

    assert "attempt 2" in page
    assert "Passed: every case is right" in page
    assert "found = []" in re.sub(r"<[^>]+>", "", page)
    assert page.count('class="history-head"') == 2
    assert "Put this version back in the editor" not in page
    assert '<details class="your-code" open>' in page, "staff come to read the code, and comment on its lines"
    assert "−" in page.partition("What changed")[2]


async def test_a_submission_and_its_history_have_times_of_the_section_s_zone(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    section, people = await make_class(site, "Ada")
    await staff(site, section, "Tess")
    found = await site.store.sections.find(section)
    assert found is not None
    plan = replace(found.plan, zone="Asia/Kolkata")
    await site.store.sections.change(section, plan, somebody(site))
    await hand_in(site, people["Ada"], WRONG, Outcome.WRONG_ANSWER)
    newest = await hand_in(site, people["Ada"], LOOPS)
    await sign_in(browser, "Tess")

    page = (await browser.get(f"/desk/{section}/submissions/{newest}")).text

    times = re.findall(r'<time datetime="([^"]*)">([^<]*)</time>', page)
    assert len(times) == 3
    assert all(shown == stated and shown.endswith("+05:30") for stated, shown in times)
    assert re.search(r"number 1, wrong answer, [\d-]+ [\d:]+\+05:30", page)


async def test_the_first_page_counts_by_exercise_and_lists_the_people(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    section, people = await make_class(site, "Ada", "Bob")
    await staff(site, section, "Tess")
    for name, outcome in (("Ada", Outcome.PASSED), ("Ada", Outcome.PASSED), ("Bob", Outcome.WRONG_ANSWER)):
        await hand_in(site, people[name], LOOPS, outcome)
    await sign_in(browser, "Tess")

    page = (await browser.get(f"/desk/{section}/submissions")).text

    assert re.search(r"</a></th><td>2</td><td>1</td>", page)
    assert all(f'href="/desk/{section}/submissions/people/{one.id}"' in page for one in people.values())
    assert f'href="/desk/{section}/likeness/{EXERCISE}"' in page


async def test_a_learner_s_name_on_the_list_of_people_leads_to_what_they_handed_in(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    section, people = await make_class(site, "Ada", "Bob")
    await staff(site, section, "Tess", Role.ASSISTANT)
    await site.store.sections.invite(section, (await make_account(site, "Cyd")).name, Role.LEARNER, somebody(site))
    await sign_in(browser, "Tess")

    page = (await browser.get(f"/desk/{section}")).text
    linked = re.findall(rf'href="(/desk/{section}/submissions/people/\w+)">(\w+)</a>', page)

    assert [name for _, name in linked] == ["Ada", "Bob"]
    assert people["Ada"].id in (await browser.get(linked[0][0])).url.path


async def test_an_assistant_is_offered_no_comparison(browser: httpx2.AsyncClient, site: Site) -> None:
    section, people = await make_class(site, "Ada")
    await staff(site, section, "Tess", Role.ASSISTANT)
    await hand_in(site, people["Ada"], LOOPS)
    await sign_in(browser, "Tess")

    assert "likeness" not in (await browser.get(f"/desk/{section}/submissions")).text


async def test_whoever_left_is_there_with_what_they_handed_in_until_then(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    section, people = await make_class(site, "Ada")
    await staff(site, section, "Tess")
    before = await hand_in(site, people["Ada"], WRONG, Outcome.WRONG_ANSWER)
    await end_membership(site, section, people["Ada"], time.time())
    after = await hand_in(site, people["Ada"], LOOPS)
    await sign_in(browser, "Tess")

    kept = await browser.get(f"/desk/{section}/submissions/{before}")
    person = (await browser.get(f"/desk/{section}/submissions/people/{people['Ada'].id}")).text

    assert kept.status_code == 200
    assert after not in kept.text + person
    assert (await browser.get(f"/desk/{section}/submissions/{after}")).status_code == 404
    assert "(no longer in the section)" in (await browser.get(f"/desk/{section}/submissions")).text


@pytest.mark.parametrize("role", [Role.INSTRUCTOR, Role.ASSISTANT])
async def test_nothing_of_anybody_outside_the_section_is_found(
    browser: httpx2.AsyncClient, site: Site, role: Role
) -> None:
    section, _ = await make_class(site, "Ada")
    foreign, others = await make_class(site, "Bob", title="Autumn")
    reader = await make_account(site, "Cyd")
    tess = await staff(site, section, "Tess", role)
    theirs = [await hand_in(site, who, LOOPS) for who in (others["Bob"], reader, tess)]
    await sign_in(browser, "Tess")
    base = f"/desk/{section}/submissions"

    assert [(await browser.get(f"{base}/{one}")).status_code for one in theirs] == [404] * 3
    assert [(await browser.get(f"{base}/people/{one.id}")).status_code for one in (others["Bob"], reader, tess)] == [
        404
    ] * 3
    assert (await browser.get(f"/desk/{foreign}/submissions/{theirs[0]}")).status_code == 404
    lists = [await browser.get(address) for address in (base, f"{base}/exercises/{EXERCISE}")]
    assert not any(name in page.text for page in lists for name in ("Bob", "Cyd"))


async def test_the_newest_of_two_equal_texts_says_that_nothing_changed(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    section, people = await make_class(site, "Ada")
    await staff(site, section, "Tess")
    for _ in range(2):
        newest = await hand_in(site, people["Ada"], MAPS)
    await sign_in(browser, "Tess")

    assert "the two are identical" in (await browser.get(f"/desk/{section}/submissions/{newest}")).text


async def test_a_long_list_of_people_comes_in_pages(browser: httpx2.AsyncClient, site: Site) -> None:
    section, _ = await make_class(site)
    await staff(site, section, "Tess")
    names = [f"Learner {number:02}" for number in range(PEOPLE_SHOWN + 3)]
    for name in names:
        account = await site.store.accounts.create(name, "no hash", somebody(site))
        assert account is not None
        await join(site, section, account, Role.LEARNER)
    await sign_in(browser, "Tess")

    seen = []
    for address in (f"/desk/{section}/submissions", f"/desk/{section}/submissions/exercises/{EXERCISE}"):
        pages = [(await browser.get(f"{address}?page={number}")).text for number in (1, 2, 3)]
        seen.append([re.findall(r">(Learner \d\d)</a>", page) for page in pages])
        assert 'rel="next"' in pages[0]
        assert 'rel="next"' not in pages[1]
        assert "Page 2 of 2" in pages[1]

    assert seen == [[names[:PEOPLE_SHOWN], names[PEOPLE_SHOWN:], []]] * 2


async def test_an_exercise_that_left_the_course_keeps_its_list(browser: httpx2.AsyncClient, site: Site) -> None:
    section, people = await make_class(site, "Ada")
    await staff(site, section, "Tess")
    handed_in = await hand_in(site, people["Ada"], LOOPS, exercise="no-longer-here")
    await sign_in(browser, "Tess")
    base = f"/desk/{section}/submissions"

    assert handed_in in (await browser.get(f"{base}/exercises/no-longer-here")).text
    assert "no longer in the course" in (await browser.get(f"{base}/{handed_in}")).text
    assert (await browser.get(f"{base}/exercises/never-was")).status_code == 404
    assert (await browser.get(f"/desk/{section}/likeness/no-longer-here")).status_code == 404

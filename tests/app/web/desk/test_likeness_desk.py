"""The list of programs that are most alike: who is in it, both programs, no verdict, and a line in the audit."""

import re

import httpx2
from handing_in import EXERCISE, LOOPS, MAPS, WRONG, hand_in, make_class, staff
from people import sign_in
from sqlalchemy import select

from app.access.permissions import Role
from app.storage.statements import fetch
from app.storage.tables import audit
from app.web.edge.comparisons import Comparisons
from app.web.edge.site import Site
from graders.contract.results import Outcome

RENAMED = LOOPS.replace("found", "result").replace("value ", "x ").replace("(value", "(x").replace("+ value", "+ x")


async def read_subjects(site: Site) -> list[str]:
    query = select(audit.c.object).where(audit.c.verb == "compare programs").order_by(audit.c.number)
    return [row.object for row in await site.ledger.database.read(fetch, query)]


async def test_a_copy_comes_first_whatever_its_names(browser: httpx2.AsyncClient, site: Site) -> None:
    section, people = await make_class(site, "Ada", "Bob", "Cyd")
    await staff(site, section, "Tess")
    for name, source in (("Ada", LOOPS), ("Bob", MAPS), ("Cyd", RENAMED)):
        await hand_in(site, people[name], source)
    await sign_in(browser, "Tess")

    page = (await browser.get(f"/desk/{section}/likeness/{EXERCISE}")).text
    pairs = re.findall(r'<th scope="row"><a href="([^"]+)">([^<]+)</a>', page)

    assert pairs[0][1] == "Ada and Cyd"
    assert "%" not in page.partition("<main")[2].partition("</main>")[0]
    assert "no finding against anybody" in page
    both = (await browser.get(pairs[0][0])).text
    assert both.count('class="is-shared"') >= 12
    assert await read_subjects(site) == [f"exercise {EXERCISE}", people["Ada"].id, people["Cyd"].id]


async def test_only_the_first_pass_of_present_learners_is_compared(browser: httpx2.AsyncClient, site: Site) -> None:
    section, people = await make_class(site, "Ada", "Bob", "Cyd")
    tess = await staff(site, section, "Tess")
    _, others = await make_class(site, "Dora", title="Autumn")
    await hand_in(site, people["Ada"], MAPS)
    await hand_in(site, people["Ada"], LOOPS)
    await hand_in(site, people["Bob"], LOOPS, Outcome.WRONG_ANSWER)
    for account in (people["Cyd"], tess, others["Dora"]):
        await hand_in(site, account, LOOPS)
    await sign_in(browser, "Tess")

    passed = await site.store.class_submissions.first_passed(section, EXERCISE)
    page = (await browser.get(f"/desk/{section}/likeness/{EXERCISE}")).text

    assert [(one.who.name, one.source) for one in passed] == [("Ada", MAPS), ("Cyd", LOOPS)]
    assert "Dora" not in page
    for left, right in ((others["Dora"], people["Ada"]), (tess, people["Cyd"]), (people["Bob"], people["Ada"])):
        answer = await browser.get(f"/desk/{section}/likeness/{EXERCISE}/{left.id}/{right.id}")
        assert answer.status_code == 404


async def test_short_programs_are_named_as_not_compared(browser: httpx2.AsyncClient, site: Site) -> None:
    section, people = await make_class(site, "Ada", "Bob")
    await staff(site, section, "Tess")
    await hand_in(site, people["Ada"], WRONG)
    await hand_in(site, people["Bob"], "no program (")
    await sign_in(browser, "Tess")

    page = (await browser.get(f"/desk/{section}/likeness/{EXERCISE}")).text

    assert "beside what was given to everybody: Ada, Bob." in page
    assert "nothing to compare yet" in page


async def test_an_assistant_compares_nothing(browser: httpx2.AsyncClient, site: Site) -> None:
    section, people = await make_class(site, "Ada", "Cyd")
    await staff(site, section, "Tess", Role.ASSISTANT)
    await sign_in(browser, "Tess")
    pair = f"{people['Ada'].id}/{people['Cyd'].id}"

    for address in (EXERCISE, f"{EXERCISE}/{pair}"):
        assert (await browser.get(f"/desk/{section}/likeness/{address}")).status_code == 403
    assert await read_subjects(site) == []


async def test_the_same_programs_are_compared_once() -> None:
    comparisons = Comparisons()
    texts = {"ada": LOOPS, "cyd": RENAMED}

    once = await comparisons.compare(texts, "", {})

    assert await comparisons.compare(dict(texts), "", {}) is once
    assert await comparisons.compare({**texts, "cyd": MAPS}, "", {}) is not once

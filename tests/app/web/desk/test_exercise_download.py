"""An instructor takes an exercise out of the course as a zip; nobody else gets its solution."""

import io
import zipfile
from pathlib import Path

import httpx2
from handing_in import EXERCISE, make_class, staff
from people import sign_in, somebody

from app.access.permissions import Role
from app.learning.grading import Assignment, Kind
from app.web.edge.rates import PER_MINUTE, Act, Rates
from app.web.edge.site import Site

COURSE = Path(__file__).resolve().parents[3] / "course"


async def test_an_instructor_downloads_all_that_grading_needs(browser: httpx2.AsyncClient, site: Site) -> None:
    section, _ = await make_class(site, "Ada")
    await staff(site, section, "Tess")
    lab = Assignment("", Kind.EXERCISE, EXERCISE, "Lab", points=10)
    await site.store.assignments.make(section, [lab], somebody(site))
    await sign_in(browser, "Tess")
    (made,) = await site.store.assignments.of_section(section)
    address = f"/desk/{section}/exercises/{EXERCISE}/files"

    page = (await browser.get(f"/desk/{section}/assignments/{made.id}")).text
    answer = await browser.get(address)

    assert f'href="{address}" download' in page
    assert answer.headers["content-type"] == "application/zip"
    assert answer.headers["cache-control"] == "no-store"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        names = set(archive.namelist())
        solution = archive.read(f"{EXERCISE}/solution.py")
    needed = ("exercise.toml", "prompt.md", "solution.py", "cases.py", "probe.py", "starter.py", "origin.toml")
    assert {f"{EXERCISE}/{name}" for name in needed} <= names
    assert solution == (COURSE / "exercises" / EXERCISE / "solution.py").read_bytes()


async def test_assistants_and_learners_get_no_solution(browser: httpx2.AsyncClient, site: Site) -> None:
    section, _ = await make_class(site, "Ada")
    await staff(site, section, "Tess", Role.ASSISTANT)

    for name in ("Tess", "Ada"):
        await sign_in(browser, name)
        assert (await browser.get(f"/desk/{section}/exercises/{EXERCISE}/files")).status_code in (403, 404)


async def test_downloads_are_counted_and_an_unknown_exercise_is_not_found(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    section, _ = await make_class(site, "Ada")
    await staff(site, section, "Tess")
    await sign_in(browser, "Tess")
    object.__setattr__(site, "rates", Rates())
    address = f"/desk/{section}/exercises/{{}}/files"

    answers = [(await browser.get(address.format("no-such"))).status_code for _ in range(PER_MINUTE[Act.EXPORT])]

    assert set(answers) == {404}
    assert (await browser.get(address.format(EXERCISE))).status_code == 429

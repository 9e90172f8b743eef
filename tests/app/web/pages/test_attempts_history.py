"""The history of attempts: what came of each, what changed between any two, and the way back to one."""

import re

import httpx2
import pytest
from fastapi import FastAPI
from site_parts import FRAGMENT, FakeWorker

from app.main import create_app
from app.settings import Settings
from app.web.edge.rates import Rates
from app.web.views.diffs import compare_briefly, compare_whole
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.results import Finding, Measure, MeasuredBy, Outcome, RunEnd, Verdict

EXERCISE = "/exercises/double"
FIRST = "def double(x):\n    return x\n"
SECOND = "def double(x):\n    y = x\n    return x + y\n"


def judge(job: GradeJob | RunJob) -> Verdict | RunEnd:
    assert isinstance(job, GradeJob)
    right = "+" in job.source
    return Verdict(
        outcome=Outcome.PASSED if right else Outcome.WRONG_ANSWER,
        exercise=job.exercise,
        finding=None if right else Finding(code="not-doubled", short="The result is not twice the input."),
        measures=(Measure(name="cpu", value=0.25, unit="s", measured_by=MeasuredBy.KERNEL),),
    )


async def submit(browser: httpx2.AsyncClient, *sources: str) -> list[str]:
    ids = []
    for number, source in enumerate(sources):
        sent = {"source": source, "idempotency_key": f"attempt-number-{number}"}
        accepted = (await browser.post(f"/api{EXERCISE}/submissions", json=sent)).json()
        await browser.get(accepted["events"])
        ids.append(accepted["id"])
    return ids


def rows_of(page: str) -> list[str]:
    """The table's lines as "− text", "+ text" or " text", those of one row side by side."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", page[page.index('class="diff"') :], re.DOTALL)
    cells = [re.findall(r'(?:aria-hidden="true">(.)<[^\n]*?)?<code>(.*?)</code>', row) for row in rows]
    return [" | ".join(f"{sign or ' '} {code}" for sign, code in row) for row in cells if row]


async def test_each_attempt_is_listed_with_what_came_of_it(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = judge
    await submit(browser, FIRST, SECOND)

    history = (await browser.get(EXERCISE)).text.partition('id="history"')[2]

    numbers = re.findall(r'class="history-number">(\d+)<', history)
    assert numbers == ["2", "1"]
    assert history.index("✓") < history.index("✗")
    assert history.index("</span> passed") < history.index("</span> wrong answer")
    assert "The result is not twice the input." in history
    assert "cpu 0.25 s" in history


async def test_a_submission_is_compared_with_the_one_before(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = judge
    _, second = await submit(browser, FIRST, SECOND)

    page = (await browser.get(f"{EXERCISE}/submissions/{second}")).text.partition('id="compare"')[2]

    assert rows_of(page) == [
        "  def double(x): |   def double(x):",
        "+     y = x",
        "−     return x | +     return x<mark> + y</mark>",
    ]
    assert "only in this submission" in page
    assert "selected>the one before, number 1, wrong answer" in page


async def test_a_submission_is_compared_with_any_other(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = judge
    first, _, third = await submit(browser, FIRST, SECOND, FIRST)

    same = (await browser.get(f"{EXERCISE}/submissions/{third}?against={first}")).text
    starter = (await browser.get(f"{EXERCISE}/submissions/{third}?against=starter")).text
    unknown = (await browser.get(f"{EXERCISE}/submissions/{third}?against=nothing")).text

    assert "the two are identical" in same
    assert "selected>the starter" in starter
    assert "selected>the one before, number 2" in unknown


async def test_times_are_on_the_readers_clock(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = judge
    _, second = await submit(browser, FIRST, SECOND)
    await browser.post("/review/zone", data={"zone": "Asia/Kathmandu"})

    for page in (EXERCISE, f"{EXERCISE}/submissions/{second}"):
        said = re.findall(r"\d{4}-\d\d-\d\d \d\d:\d\d(Z|[+-]\d\d:\d\d)", (await browser.get(page)).text)
        assert set(said) == {"+05:45"}


async def test_the_first_is_compared_with_the_starter(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = judge
    (first,) = await submit(browser, FIRST)

    assert "selected>the starter" in (await browser.get(f"{EXERCISE}/submissions/{first}")).text


async def test_a_comparison_of_long_texts_says_how_many_rows_it_leaves_out(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    worker.end = judge
    _, second = await submit(browser, "\n" * 40_000, "+\n" * 30_000)

    page = (await browser.get(f"{EXERCISE}/submissions/{second}")).text
    verdict, _, compared = page.partition('id="compare"')

    assert "The first 2,000 rows are shown; 28,000 more are left out." in verdict
    assert "The first 2,000 rows are shown; 38,000 more are left out." in compared
    assert ": 40000 lines, " in compared
    assert "this one: 30000 lines" in compared
    assert len(rows_of(compared)) == 2_000


async def test_comparisons_have_a_rate_of_their_own(settings: Settings) -> None:
    app: FastAPI = create_app(settings, rates=Rates(factor=0.03))
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as browser:
            sent = await browser.post(
                f"{EXERCISE}/submissions", data={"source": FIRST, "idempotency_key": "attempt-number-0"}
            )
            pages = [await browser.get(sent.headers["location"]) for _ in range(4)]
            fragment = await browser.get(sent.headers["location"], headers=FRAGMENT)

    assert [page.status_code for page in pages] == [200, 200, 200, 429]
    assert "You may have 3 comparisons of attempts per minute" in pages[-1].text
    assert fragment.status_code == 200


async def test_a_version_goes_back_into_the_editor(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    worker.end = judge
    first, _ = await submit(browser, FIRST, SECOND)
    await submit(stranger, "x = 1")

    refused = await stranger.post(f"{EXERCISE}/submissions/{first}/restore")
    sent = await browser.post(f"{EXERCISE}/submissions/{first}/restore")
    page = (await browser.get(sent.headers["location"])).text

    assert refused.status_code == 404
    assert sent.status_code == 303
    assert f"\n{FIRST}</textarea>" in page


async def test_a_submission_to_one_exercise_is_none_to_another(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    (first,) = await submit(browser, FIRST)

    assert (await browser.get(f"/exercises/pull-back/submissions/{first}")).status_code == 404
    assert (await browser.post(f"/exercises/pull-back/submissions/{first}/restore")).status_code == 404


def test_a_long_equal_stretch_is_left_out_and_a_short_one_is_not() -> None:
    equal = [f"line {number}" for number in range(20)]
    left, right = "\n".join(["a", *equal, "b", *equal[:9], "c"]), "\n".join(["A", *equal, "B", *equal[:9], "C"])

    rows = compare_briefly(left, right).rows

    assert [row.skipped for row in rows if row.skipped] == [14]
    assert [row.left for row in rows if row.kind == "changed"] == ["a", "b", "c"]


@pytest.mark.parametrize(("left", "right"), [("", ""), ("a\nb", "a\nb"), ("a", "a\n")])
def test_equal_texts_have_no_difference(left: str, right: str) -> None:
    assert compare_briefly(left, right).rows == ()
    whole = compare_whole(left, right)
    assert (whole.added, whole.removed) == (0, 0)
    assert all(row.kind == "same" for row in whole.rows)

"""The public checks alone: asked for by a button of their own, answered like a submission, and no attempt."""

import re

import httpx2
import pytest
from fastapi import FastAPI
from site_parts import COURSE, FRAGMENT, FakeWorker, read_stream

from app.main import create_app
from app.settings import Settings
from app.web.edge.exercise_digest import read_digest
from app.web.edge.rates import Rates
from app.web.pages.exercise import show_checks
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.manifest import Checks
from graders.contract.results import CaseResult, Finding, Outcome, RunEnd, Verdict

EXERCISE = "/exercises/double"
API = "/api/exercises/double/checks"
HUNT = "/exercises/early-meetings"
TOKEN = "0123456789abcdef"


def hold(job: GradeJob | RunJob) -> Verdict | RunEnd:
    assert isinstance(job, GradeJob)
    case = CaseResult(name="small", idea="A small number.", passed=True, public=True)
    outcome = Outcome.OK if job.public_only else Outcome.PASSED
    return Verdict(outcome=outcome, exercise=job.exercise, cases=(case,), cases_total=1, public_only=job.public_only)


def fail(job: GradeJob | RunJob) -> Verdict | RunEnd:
    assert isinstance(job, GradeJob)
    finding = Finding(code="off", short="Off: write `x + x`, <b>not</b> `x`.")
    case = CaseResult(name="small", idea="A small number.", passed=False, public=True, finding=finding)
    return Verdict(
        outcome=Outcome.WRONG_ANSWER,
        exercise=job.exercise,
        finding=finding,
        cases=(case,),
        cases_total=1,
        public_only=job.public_only,
    )


async def run_checks(browser: httpx2.AsyncClient, token: str = TOKEN) -> str:
    answer = await browser.post(API, json={"source": "x = 1", "idempotency_key": token})
    assert answer.status_code == 202
    accepted = answer.json()
    assert read_stream(await browser.get(accepted["events"]))[-1].event == "finished"
    return str(accepted["id"])


async def test_a_check_asks_for_the_public_checks_alone(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = hold
    await run_checks(browser)

    digest = read_digest(COURSE / "exercises" / "double")
    assert worker.jobs == [GradeJob(exercise="double", source="x = 1", public_only=True, exercise_digest=digest)]


async def test_a_check_that_holds_is_no_pass_and_no_attempt(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = hold
    found = await run_checks(browser)

    verdict = (await browser.get(f"{EXERCISE}/submissions/{found}", headers=FRAGMENT)).text
    page = (await browser.get(EXERCISE)).text

    assert "Every public check holds." in verdict
    assert "Passed" not in verdict
    assert "reference" not in verdict.lower()
    assert "None yet." in page
    assert "tag-right" not in page
    assert "not tried yet" in (await browser.get("/problems")).text
    assert EXERCISE not in (await browser.get("/me")).text


async def test_a_check_that_fails_says_that_nothing_was_counted(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    worker.end = fail
    found = await run_checks(browser)

    verdict = (await browser.get(f"{EXERCISE}/submissions/{found}", headers=FRAGMENT)).text

    assert "did not count as an attempt" in verdict
    assert "Off: write <code>x + x</code>, &lt;b&gt;not&lt;/b&gt; <code>x</code>." in verdict
    assert "None yet." in (await browser.get(EXERCISE)).text


async def test_without_script_the_second_button_leads_to_the_same_kind_of_page(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    worker.end = fail
    form = (await browser.get(EXERCISE)).text
    button = re.search(r'<button[^>]*formaction="([^"]+)"[^>]*>([^<]+)<', form)
    assert button
    sent = await browser.post(button.group(1), data={"source": "half = 1\r\n", "idempotency_key": TOKEN})
    assert sent.status_code == 303
    await browser.get(f"/api/submissions/{sent.headers['location'].rpartition('/')[2]}/events")

    page = (await browser.get(sent.headers["location"])).text

    assert button.group(2) == "Run the public check"
    assert "Public checks of" in page
    assert "What changed" not in page
    assert "half = 1" in (await browser.get(EXERCISE)).text


async def test_a_check_keeps_what_was_said_of_the_fault_and_does_not_send_it(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    worker.end = hold
    fields = {"source": "x", "idempotency_key": TOKEN, "category": "rounding", "line": 4}
    sent = await browser.post(f"{HUNT}/checks", data=fields)
    await browser.get(f"/api/submissions/{sent.headers['location'].rpartition('/')[2]}/events")

    page = (await browser.get(HUNT)).text

    assert [job.diagnosed for job in worker.jobs if isinstance(job, GradeJob)] == [None]
    assert 'value="rounding" checked' in page
    assert 'value="4" checked' in page


async def test_public_checks_have_a_rate_of_their_own(settings: Settings) -> None:
    app: FastAPI = create_app(settings, rates=Rates(factor=0.05))
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as browser:
            checks = [
                await browser.post(
                    f"{EXERCISE}/checks", data={"source": "mine", "idempotency_key": f"check-number-{number}"}
                )
                for number in range(4)
            ]
            fields = {"source": "x", "idempotency_key": TOKEN, "category": "rounding", "line": 4}
            await browser.post(f"{HUNT}/checks", data=fields)
            hunt = (await browser.get(HUNT)).text
            submitted = await browser.post(
                API.replace("checks", "submissions"), json={"source": "x", "idempotency_key": TOKEN}
            )

    assert [answer.status_code for answer in checks] == [303, 303, 429, 429]
    assert "You may have 2 runs of public checks per minute" in checks[-1].text
    assert "mine" in checks[-1].text
    assert 'value="rounding" checked' not in hunt  # a refused check keeps nothing
    assert submitted.status_code == 202


@pytest.mark.parametrize(
    ("checks", "button", "note"),
    [
        (Checks(public=3, hidden=5), "Run the 3 public checks", "Submit asks the 3 public checks and 5 more,"),
        (Checks(public=1, hidden=0), "Run the public check", "Submit asks the public check,"),
        (None, "Run the public checks", "Submit asks these and more,"),
    ],
)
def test_the_buttons_say_what_they_do(checks: Checks | None, button: str, note: str) -> None:
    said = show_checks(checks)

    assert (said.button, said.note) == (button, f"{note} with fresh inputs each time.")

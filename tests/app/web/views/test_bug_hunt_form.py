"""A bug hunt asks for the kind of fault and the guilty line, sends both, and tells the right ones after a pass."""

import httpx2
import pytest
from site_parts import FRAGMENT, FakeWorker

from app.course.model import Course
from app.web.views.diagnosis import read_draft
from graders.contract.jobs import Diagnosed, GradeJob, RunJob
from graders.contract.results import Finding, Outcome, RunEnd, Verdict

HUNT = "/exercises/early-meetings"
API = "/api/exercises/early-meetings/submissions"
TOKEN = "0123456789abcdef"
ANSWER = "A number is right, in another unit than the one it is taken for."


def weigh(job: GradeJob | RunJob) -> Verdict | RunEnd:
    assert isinstance(job, GradeJob)
    right = job.diagnosed == Diagnosed(category="wrong-unit", line=4)
    return Verdict(
        outcome=Outcome.PASSED if right else Outcome.WRONG_ANSWER,
        exercise=job.exercise,
        finding=None if right else Finding(code="wrong-diagnosis", short="Not right yet."),
        diagnosis_right=right,
    )


async def submit(browser: httpx2.AsyncClient, token: str = TOKEN, **said: object) -> str:
    accepted = (await browser.post(API, json={"source": "x", "idempotency_key": token, **said})).json()
    await browser.get(accepted["events"])
    return (await browser.get(f"{HUNT}/submissions/{accepted['id']}", headers=FRAGMENT)).text


async def test_the_form_offers_every_kind_and_every_line_of_code(browser: httpx2.AsyncClient, course: Course) -> None:
    page = (await browser.get(HUNT)).text
    asked = course.exercises["early-meetings"].manifest.diagnosis
    assert asked

    assert page.count('name="category"') == len(asked.categories)
    assert [number for number in range(1, 7) if f'name="line" value="{number}"' in page] == [1, 2, 4, 5]
    assert "checked" not in page


async def test_the_kinds_stand_in_the_order_of_their_words(browser: httpx2.AsyncClient, course: Course) -> None:
    page = (await browser.get(HUNT)).text
    asked = course.exercises["early-meetings"].manifest.diagnosis
    assert asked

    places = [page.index(words) for words in sorted(asked.categories.values(), key=str.casefold)]

    assert places == sorted(places)


async def test_an_exercise_that_is_no_hunt_asks_nothing(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    page = (await browser.get("/exercises/double")).text
    sent = {"source": "x", "idempotency_key": TOKEN, "category": "anything", "line": 3}
    accepted = (await browser.post("/api/exercises/double/submissions", json=sent)).json()
    await browser.get(accepted["events"])

    assert 'name="category"' not in page
    assert [job.diagnosed for job in worker.jobs if isinstance(job, GradeJob)] == [None]


async def test_what_was_said_goes_to_the_judge_and_stays(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = weigh

    verdict = await submit(browser, category="rounding", line=5)
    page = (await browser.get(HUNT)).text

    assert [job.diagnosed for job in worker.jobs if isinstance(job, GradeJob)] == [
        Diagnosed(category="rounding", line=5)
    ]
    assert "Your diagnosis is not right yet." in verdict
    assert "A part of the number is cut off." in verdict
    assert 'value="rounding" checked' in page
    assert 'value="5" checked' in page
    assert "Your diagnosis: line 5: A part of the number is cut off." in page
    assert "right code, wrong diagnosis" in page


async def test_the_fault_is_told_after_a_pass_and_not_before(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = weigh

    failed = await submit(browser, category="rounding", line=2)
    passed = await submit(browser, "another-token", category="wrong-unit", line=4)

    assert "The fault" not in failed
    assert ANSWER not in failed
    assert "The fault" in passed
    assert passed.count(ANSWER) == 2
    assert "Any one of these lines counts." in passed
    assert "marks the other guilty line" in passed


async def test_nothing_said_is_sent_as_nothing(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = weigh

    verdict = await submit(browser)

    assert [job.diagnosed for job in worker.jobs if isinstance(job, GradeJob)] == [Diagnosed()]
    assert "No line was marked." in verdict


@pytest.mark.parametrize(
    "said", [{"category": "no-such-kind"}, {"line": 3}, {"line": 99}, {"line": 0}, {"line": "x"}]
)
async def test_what_the_form_does_not_offer_is_refused(browser: httpx2.AsyncClient, said: dict[str, object]) -> None:
    assert (await browser.post(API, json={"source": "x", "idempotency_key": TOKEN, **said})).status_code == 422


async def test_a_choice_is_a_draft(browser: httpx2.AsyncClient) -> None:
    kept = await browser.put(
        "/api/drafts/exercises/early-meetings/diagnosis", json={"text": '{"category": "rounding", "line": 2}'}
    )
    page = (await browser.get(HUNT)).text

    assert kept.status_code == 204
    assert 'value="rounding" checked' in page
    assert 'value="2" checked' in page
    assert (await browser.put("/api/drafts/exercises/double/diagnosis", json={"text": "{}"})).status_code == 404


@pytest.mark.parametrize("text", ["", "[]", "3", "null", "[" * 99_999, '{"line": "x"}', '{"category": {}}', "{"])
def test_a_draft_that_says_nothing_says_nothing(text: str) -> None:
    assert read_draft(text) == Diagnosed()

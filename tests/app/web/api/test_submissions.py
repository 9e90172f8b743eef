"""Exercises and submissions: handed in once, followed live, judged, and compared with the reference after a pass."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from site_parts import FRAGMENT, FakeWorker, read_stream

from app.course.model import Course
from app.web.api.submissions import read_after_pass
from app.web.edge.site import Site
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.outcome_sentences import make_end
from graders.contract.results import CaseResult, Finding, Measure, MeasuredBy, Outcome, RunEnd, Verdict
from graders.ledger import State

EXERCISE = "/exercises/double"
API = "/api/exercises/double/submissions"
TOKEN = "0123456789abcdef"

FAILED = Verdict(
    outcome=Outcome.WRONG_ANSWER,
    exercise="double",
    finding=Finding(code="off", short="It is off by one <here>."),
    cases=(
        CaseResult(name="first", idea="a small number", passed=True, public=True, input="1", got="2", expected="2"),
        CaseResult(
            name="second", idea="a hidden one", passed=False, public=False, input="S1", got="S2", expected="S3"
        ),
        CaseResult(name="third", idea="a big one", passed=False, public=True, input="9", got="17", expected="18"),
    ),
    cases_total=3,
    measures=(Measure(name="cpu time", value=0.01234, unit="s", measured_by=MeasuredBy.KERNEL),),
    profile="P2",
)


def fail(_: GradeJob | RunJob) -> Verdict | RunEnd:
    return FAILED


async def hand_in(browser: httpx2.AsyncClient, source: str = "x = 1", token: str = TOKEN) -> dict[str, object]:
    answer = await browser.post(API, json={"source": source, "idempotency_key": token})
    assert answer.status_code == 202
    return answer.json()


async def test_an_answer_is_accepted_with_its_place_and_its_stream(browser: httpx2.AsyncClient) -> None:
    accepted = await hand_in(browser)

    assert set(accepted) == {"id", "ahead", "estimate_seconds", "served", "events"}
    assert (accepted["ahead"], accepted["events"]) == (0, f"/api/submissions/{accepted['id']}/events")


async def test_while_no_grader_runs_it_is_said_in_words_and_the_code_is_kept(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    accepted = await hand_in(browser)
    page = await browser.get(f"{EXERCISE}/submissions/{accepted['id']}")

    assert accepted["served"] is False
    assert "No grader is running just now. Your code is kept" in page.text


async def test_with_a_grader_nothing_is_said_of_one(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    accepted = await hand_in(browser)
    assert accepted["served"] is True
    assert read_stream(await browser.get(str(accepted["events"])))[0].data == {"ahead": 0, "served": True}


async def test_the_same_token_twice_is_one_submission(browser: httpx2.AsyncClient, site: Site) -> None:
    first = await hand_in(browser)
    by_form = await browser.post(f"{EXERCISE}/submissions", data={"source": "x = 1", "idempotency_key": TOKEN})

    assert by_form.headers["location"] == f"{EXERCISE}/submissions/{first['id']}"
    assert await hand_in(browser) | {"estimate_seconds": 0} == first | {"estimate_seconds": 0}


async def test_the_stream_ends_with_the_verdict_and_resumes_where_it_was_cut(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    worker.end = fail
    events = (await hand_in(browser))["events"]

    whole = read_stream(await browser.get(str(events)))
    rest = read_stream(await browser.get(str(events), headers={"last-event-id": whole[1].id}))

    assert [event.event for event in whole] == ["queued", "started", "output", "finished"]
    assert [event.id for event in whole] == ["1", "2", "3", "4"]
    assert rest == whole[2:]
    assert whole[-1].data["outcome"] == "wrong_answer"


async def test_a_submission_is_told_as_json(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    accepted = await hand_in(browser)
    await browser.get(str(accepted["events"]))

    told = (await browser.get(f"/api/submissions/{accepted['id']}")).json()

    assert (told["state"], told["exercise"], told["source"]) == ("finished", "double", "x = 1")
    assert told["verdict"]["outcome"] == "passed"


async def verdict_of(browser: httpx2.AsyncClient, source: str = "x = 1") -> str:
    accepted = await hand_in(browser, source)
    await browser.get(str(accepted["events"]))
    return (await browser.get(f"{EXERCISE}/submissions/{accepted['id']}", headers=FRAGMENT)).text


async def test_the_first_failing_case_comes_first(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = fail

    html = await verdict_of(browser)

    order = [html.index(idea) for idea in ("a hidden one", "a small number", "a big one")]
    assert order == sorted(order)
    assert "1 of 3 cases passed" in html


async def test_a_hidden_case_keeps_its_values_back(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = fail

    html = await verdict_of(browser)

    assert not re.search("S1|S2|S3", html)
    assert "17" in html


async def test_words_of_a_verdict_are_text(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = fail

    assert "off by one &lt;here&gt;." in await verdict_of(browser)


async def test_a_pass_leads_on_to_one_next_step_and_a_failure_does_not(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    worker.end = fail
    failed = await verdict_of(browser)
    worker.end = lambda _: Verdict(outcome=Outcome.PASSED, exercise="double")
    accepted = await hand_in(browser, "def mine():\n    pass\n", "another-token")
    await browser.get(str(accepted["events"]))
    passed = (await browser.get(f"{EXERCISE}/submissions/{accepted['id']}")).text

    assert "Next:" not in failed
    assert 'href="/exercises/early-meetings">Next: Every meeting ends too early</a>' in passed


async def test_the_reference_shows_after_a_pass_only(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = fail
    failed = await verdict_of(browser)
    worker.end = lambda _: Verdict(outcome=Outcome.PASSED, exercise="double")
    accepted = await hand_in(browser, "def mine():\n    pass\n", "another-token")
    await browser.get(str(accepted["events"]))
    passed = (await browser.get(f"{EXERCISE}/submissions/{accepted['id']}")).text

    assert "reference" not in failed.lower()
    assert "reference" in passed.lower()
    assert "passed</span>" in (await browser.get(EXERCISE)).text


def test_a_solution_that_leads_out_of_the_course_is_not_shown_after_a_pass(course: Course, tmp_path: Path) -> None:
    exercise = course.exercises["double"]
    copied = replace(exercise, folder=tmp_path / "exercises" / "double")
    shutil.copytree(exercise.folder, copied.folder)
    assert read_after_pass(copied) is not None
    (copied.folder / "solution.py").unlink()
    (copied.folder / "solution.py").symlink_to("/etc/passwd")

    assert read_after_pass(copied) is None


async def test_a_fault_of_ours_says_so_and_is_no_attempt(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = lambda job: make_end(job, Outcome.GRADER_FAULT)

    html = await verdict_of(browser)

    assert html.count("it cost you no attempt") == 1
    assert "our fault, no attempt" in (await browser.get(EXERCISE)).text


async def test_without_script_the_form_leads_to_a_page_that_looks_again(browser: httpx2.AsyncClient) -> None:
    form = (await browser.get(EXERCISE)).text
    token = re.search(r'name="idempotency_key" value="([^"]+)"', form)
    assert token
    sent = await browser.post(
        f"{EXERCISE}/submissions", data={"source": "x = 1\r\n", "idempotency_key": token.group(1)}
    )

    page = (await browser.get(sent.headers["location"])).text

    assert sent.status_code == 303
    assert '<meta http-equiv="refresh"' in page
    assert "No grader is running just now" in page
    assert "x = 1" in (await browser.get(EXERCISE)).text


async def test_a_form_that_could_not_be_taken_comes_back_with_its_text(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    for _ in range(site.ledger.policy.pending_cap):
        await browser.post("/runs", data={"source": "1"})

    refused = await browser.post(f"{EXERCISE}/submissions", data={"source": "precious = 1", "idempotency_key": TOKEN})

    assert refused.status_code == 429
    assert "precious = 1" in refused.text
    assert "are allowed. Wait for one of them to end.</" in refused.text


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/exercises/nothing/submissions", {"source": "x", "idempotency_key": TOKEN}, 404),
        (API, {"source": "x", "idempotency_key": "short"}, 422),
        (API, {"source": "x", "idempotency_key": "with space 12"}, 422),
        (API, {"source": "x"}, 422),
        (API, {"source": "x", "idempotency_key": TOKEN, "outcome": "passed"}, 422),
    ],
)
async def test_an_answer_that_cannot_be_taken_is_refused(
    browser: httpx2.AsyncClient, path: str, body: dict[str, str], status: int
) -> None:
    assert (await browser.post(path, json=body)).status_code == status


async def test_a_submission_is_nobody_elses_business(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient
) -> None:
    accepted = await hand_in(browser)
    await hand_in(stranger)

    for path in (
        f"{EXERCISE}/submissions/{accepted['id']}",
        f"/api/submissions/{accepted['id']}",
        f"/api/submissions/{accepted['id']}/events",
    ):
        assert (await stranger.get(path)).status_code == 404
    assert (await stranger.post(f"/api/submissions/{accepted['id']}/stop")).status_code == 404
    assert (await browser.get(f"{EXERCISE}/submissions/{accepted['id']}")).status_code == 200


async def test_a_waiting_submission_can_be_withdrawn(browser: httpx2.AsyncClient, site: Site) -> None:
    accepted = await hand_in(browser)

    assert (await browser.post(f"/api/submissions/{accepted['id']}/stop")).status_code == 204
    assert (await browser.get(f"/api/submissions/{accepted['id']}")).json()["state"] == State.FINISHED


async def test_hints_open_one_at_a_time_and_stay_open(browser: httpx2.AsyncClient) -> None:
    before = (await browser.get(EXERCISE)).text
    await browser.post(f"{EXERCISE}/hints", data={"number": 2})
    skipped = (await browser.get(EXERCISE)).text
    await browser.post(f"{EXERCISE}/hints", data={"number": 1})
    after = (await browser.get(EXERCISE)).text

    assert 'class="hint" open' not in before
    assert 'class="hint" open' not in skipped
    assert after.count('class="hint" open') == 1
    assert "Show hint 2 of" in after


async def test_an_exercise_that_does_not_exist_is_a_page_in_words(browser: httpx2.AsyncClient) -> None:
    answer = await browser.get("/exercises/nothing")

    assert answer.status_code == 404
    assert "There is no exercise of that name." in answer.text


async def test_a_draft_survives_and_belongs_to_its_learner(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient
) -> None:
    saved = await browser.put("/api/drafts/exercises/double", json={"text": "half </textarea> done"})

    assert saved.status_code == 204
    assert "half &lt;/textarea&gt; done" in (await browser.get(EXERCISE)).text
    assert "half &lt;/textarea&gt;" not in (await stranger.get(EXERCISE)).text


@pytest.mark.parametrize(
    "key", ["exercises/nothing", "chapters/a-first-graph/nothing", "chapters/a-first-graph", "x", "a/b/c/d"]
)
async def test_a_draft_for_no_editor_is_not_kept(browser: httpx2.AsyncClient, key: str) -> None:
    assert (await browser.put(f"/api/drafts/{key}", json={"text": "x"})).status_code == 404

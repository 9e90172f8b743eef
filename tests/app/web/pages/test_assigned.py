"""A learner's side of assignments: when they are due, what an attempt now counts, and why a grade is what it is."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from icalendar import Calendar
from people import join, make_account, sign_in, somebody
from site_parts import FakeWorker, StoppedClock
from test_calendar_page import make_address

from app.access.permissions import Role
from app.course.model import Course
from app.learning.grading import Allowance, Assignment, Counts, Credit, Kind
from app.storage.records import Account, SectionId, SectionPlan
from app.web.edge.site import Site
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.results import Outcome, RunEnd, Verdict

CHAPTER = "a-first-graph"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
LAB = Assignment("", Kind.EXERCISE, "double", "Lab 1", points=10, due_at=NOON + DAY)
QUESTIONS = Assignment("", Kind.RETRIEVAL, CHAPTER, "Questions", points=4, credit=Credit.SHARE, counts=Counts.DONE)


async def make_section(site: Site, title: str = "ML 101", zone: str = "Europe/Zurich") -> SectionId:
    section = await site.store.sections.make(title, somebody(site))
    await site.store.sections.change(section, SectionPlan(title, zone, late_percent_a_day=10), somebody(site))
    return section


async def assign(site: Site, section: SectionId, *new: Assignment) -> tuple[Assignment, ...]:
    await site.store.assignments.make(section, new, somebody(site))
    return await site.store.assignments.of_section(section)


@pytest.fixture
async def section(site: Site) -> SectionId:
    return await make_section(site)


@pytest.fixture
async def lea(site: Site, section: SectionId, browser: httpx2.AsyncClient) -> Account:
    """A learner of the section, signed in."""
    account = await make_account(site, "Lea")
    await join(site, section, account, Role.LEARNER)
    await sign_in(browser, "Lea")
    return account


def fail(job: GradeJob | RunJob) -> Verdict | RunEnd:
    assert isinstance(job, GradeJob)
    return Verdict(outcome=Outcome.WRONG_ANSWER, exercise=job.exercise, profile="P2")


async def submit(browser: httpx2.AsyncClient, key: str = "k") -> None:
    form = {"source": f"# {key}", "idempotency_key": key * 32}
    accepted = await browser.post("/exercises/double/submissions", data=form)
    await browser.get(f"/api/submissions/{accepted.headers['location'].rpartition('/')[2]}/events")


async def test_the_exercise_says_for_whom_it_counts_and_what_a_submission_now_earns(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, lea: Account, clock: StoppedClock
) -> None:
    await assign(site, section, LAB)
    in_time = (await browser.get("/exercises/double")).text
    clock.now = NOON + DAY + timedelta(hours=1)
    late = (await browser.get("/exercises/double")).text

    due = "This exercise counts for ML 101: due Mon 2 Mar 2026 13:00 (Europe/Zurich)"
    assert f"{due}. No grade yet, 10 points." in in_time
    assert f"{due}; a submission now counts 10 % less. No grade yet, 10 points." in late


async def test_a_later_closing_alone_is_shown_with_its_reason(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, lea: Account
) -> None:
    (lab,) = await assign(site, section, replace(LAB, closes_at=NOON + 2 * DAY))
    later = Allowance(closes_at=NOON + 9 * DAY, reason="ill")
    await site.store.assignments.grant(section, lab.id, lea.id, later, somebody(site))

    page = (await browser.get("/me/grades")).text

    assert "For you: open until Tue 10 Mar 2026 13:00 (Europe/Zurich). Reason: ill" in page


async def test_the_limit_of_attempts_is_said_before_it_is_passed_and_what_comes_then_is_still_judged(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, lea: Account, worker: FakeWorker
) -> None:
    await assign(site, section, replace(LAB, attempts=2))
    worker.end = fail
    await submit(browser, "a")
    one_left = (await browser.get("/exercises/double")).text
    await submit(browser, "b")
    none_left = (await browser.get("/exercises/double")).text
    del worker.end
    worker.end = lambda job: Verdict(outcome=Outcome.PASSED, exercise="double", profile="P2")  # type: ignore[arg-type]
    await submit(browser, "c")
    judged = await browser.get("/exercises/double")
    grades = (await browser.get("/me/grades")).text

    assert "1 of 2 attempts left" in one_left
    assert "you have used all 2 attempts: a submission now is still judged, and does not count" in none_left
    assert "passed" in judged.text
    assert "2 submissions, none passed. No attempt that counts is left." in grades
    assert "0 of 10" in grades


async def test_the_chapter_and_the_course_map_say_what_counts(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, lea: Account
) -> None:
    guesses = Assignment("", Kind.PREDICTIONS, CHAPTER, "1.1 A first graph: predictions", points=2)
    await assign(site, section, replace(QUESTIONS, due_at=NOON + DAY, attempts=2), LAB, guesses)

    chapter, course_map = (await browser.get(f"/chapters/{CHAPTER}")).text, (await browser.get("/course")).text
    module = (await browser.get("/modules/start")).text

    assert "The questions here count for ML 101: due Mon 2 Mar 2026 13:00" in chapter
    assert "only the first 2 answers to each question count" in chapter
    for page in (course_map, module):
        assert "ML 101: Questions, due Mon 2 Mar 2026 13:00 (Europe/Zurich); no grade yet, 4 points" in page
        assert "ML 101: Lab 1, due" in page
        assert "ML 101: the predictions, no due date; no grade yet, 2 points" in page


async def test_a_pass_is_a_grade_with_its_reason_and_an_extension_is_shown_with_its(
    browser: httpx2.AsyncClient,
    site: Site,
    section: SectionId,
    lea: Account,
    worker: FakeWorker,
) -> None:
    """The ledger's clock runs, so that the dates are far away."""
    due = datetime(2096, 3, 2, 12, tzinfo=UTC)
    lab, _ = await assign(site, section, replace(LAB, due_at=due), QUESTIONS)
    extended = Allowance(due_at=due + 2 * DAY, reason="ill")
    await site.store.assignments.grant(section, lab.id, lea.id, extended, somebody(site))
    await submit(browser)
    answer = {"number": "1"}
    await browser.post(f"/chapters/{CHAPTER}/answers/how-many-nodes", data=answer)

    page = (await browser.get("/me/grades")).text

    assert "10 of 10" in page
    assert "Passed on " in page
    assert "For you: extended from Fri 2 Mar 2096 13:00 (Europe/Zurich). Reason: ill" in page
    assert "Sun 4 Mar 2096 13:00 (Europe/Zurich)" in page
    assert "questions answered." in page


async def test_each_section_has_its_own_dates_for_the_same_exercise(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, lea: Account
) -> None:
    tokyo = await make_section(site, "ML 102", "Asia/Tokyo")
    await join(site, tokyo, lea, Role.LEARNER)
    await sign_in(browser, "Lea")
    for one in (section, tokyo):
        await assign(site, one, LAB)

    exercise, grades = (await browser.get("/exercises/double")).text, (await browser.get("/me/grades")).text

    for page in (exercise, grades):
        assert "Mon 2 Mar 2026 13:00 (Europe/Zurich)" in page
        assert "Mon 2 Mar 2026 21:00 (Asia/Tokyo)" in page


async def test_a_reader_elsewhere_sees_the_deadline_on_their_own_clock_too(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, lea: Account
) -> None:
    await assign(site, section, LAB)
    await site.store.review_cards.set_zone(lea.learner, "America/New_York")

    page = (await browser.get("/exercises/double")).text

    assert "due Mon 2 Mar 2026 13:00 (Europe/Zurich), for you Mon 2 Mar 2026 07:00 (America/New_York)" in page


async def test_what_is_hidden_not_open_yet_or_of_others_is_not_shown(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, section: SectionId, lea: Account
) -> None:
    soon = Assignment("", Kind.PREDICTIONS, CHAPTER, "Soon", points=1, opens_at=NOON + DAY)
    await assign(site, section, replace(LAB, published=False), soon)
    other = await make_section(site, "Other")
    await assign(site, other, LAB, QUESTIONS)

    pages = [
        (await one.get(path)).text
        for one in (browser, stranger)
        for path in ("/exercises/double", f"/chapters/{CHAPTER}", "/course")
    ]

    assert not any("Soon" in page or "counts for" in page or "count for" in page for page in pages)


async def test_nothing_is_due_any_more_in_an_archived_section_and_its_grades_stay(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, lea: Account
) -> None:
    await assign(site, section, LAB)
    await site.store.sections.archive(section, somebody(site))

    assert "counts for ML 101" not in (await browser.get("/exercises/double")).text
    assert "Lab 1" in (await browser.get("/me/grades")).text


async def test_points_for_an_exercise_that_left_the_course_stay(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, lea: Account, worker: FakeWorker, course: Course
) -> None:
    due = datetime(2096, 3, 2, 12, tzinfo=UTC)
    await assign(site, section, replace(LAB, due_at=due), replace(LAB, target="pull-back", title="Lab 2"))
    await submit(browser)
    object.__setattr__(site, "read_course", lambda: replace(course, exercises={}))

    page = (await browser.get("/me/grades")).text

    assert "10 of 10" in page
    assert "The course has nothing to hand in here now." in page


async def test_a_reader_without_a_section_is_told_how_to_join_one(browser: httpx2.AsyncClient, site: Site) -> None:
    await make_account(site, "Nora")
    await sign_in(browser, "Nora")

    assert "You are not a learner in any section" in (await browser.get("/me/grades")).text


async def test_the_calendar_has_each_deadline_with_its_extension(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, section: SectionId, lea: Account
) -> None:
    lab, _ = await assign(site, section, LAB, replace(QUESTIONS, due_at=NOON + 2 * DAY))
    address = await make_address(browser)
    before = entries((await stranger.get(address)).text)
    extended = Allowance(due_at=NOON + 5 * DAY, reason="ill")
    await site.store.assignments.grant(section, lab.id, lea.id, extended, somebody(site))
    after = entries((await stranger.get(address)).text)

    assert sorted(before.values()) == [
        (NOON + DAY, "ML 101: Lab 1 is due", "http://testserver/exercises/double"),
        (NOON + 2 * DAY, "ML 101: Questions is due", f"http://testserver/chapters/{CHAPTER}"),
    ]
    assert before.keys() == after.keys()
    assert max(after.values())[0] == NOON + 5 * DAY


def entries(text: str) -> dict[str, tuple[datetime, str, str]]:
    events = Calendar.from_ical(text).walk("VEVENT")
    return {str(one["UID"]): (one.decoded("DTSTART"), str(one["SUMMARY"]), str(one["URL"])) for one in events}

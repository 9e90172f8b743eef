"""The outbox of grades: each grade arrives, the newest wins, and what does not arrive is said."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import httpx2
import pytest
from fake_platform import BOB, ISSUER, FakePlatform, enter, launch, make_linked_section, read_ticket, register
from people import somebody
from site_parts import StoppedClock
from sqlalchemy import insert

from app.learning.grading import Assignment, Kind
from app.linking.grade_services import LINEITEM, SCORE
from app.linking.lti import CLAIM, GRADES
from app.storage.lti_scores import DUE, SENT, STOPPED, Claimed, Delivery, Score
from app.storage.records import AccountId
from app.storage.tables import overrides
from app.web.edge.site import Site
from app.web.lti.sending import GradeSender


@pytest.fixture
def platform() -> FakePlatform:
    return FakePlatform()


@pytest.fixture
async def bob(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, platform: FakePlatform
) -> AccountId:
    """A learner of a section that is Ada's course at the platform, with one assignment of 10 points."""
    await register(site, platform)
    section = await make_linked_section(site, browser, platform)
    new = Assignment("", Kind.EXERCISE, "double", "Double it", 10.0)
    await site.store.assignments.make(section, [new], somebody(site))
    await enter(stranger, platform, BOB)
    people = {one.name: one.account for one in await site.store.sections.people(section)}
    return people["Bob Babbage"]


@pytest.fixture
def sender(site: Site) -> GradeSender:
    return make_sender(site)


def make_sender(site: Site) -> GradeSender:
    return GradeSender(site.store, site.platforms, site.settings.secret, site.read_course, site.clock)


async def decide(site: Site, bob: AccountId, points: float | None) -> None:
    """A person decides Bob's grade: the shortest way to one that changes."""
    (section,) = await site.store.sections.all()
    (one,) = await site.store.assignments.of_section(section.id)
    row = {"assignment": one.id, "account": bob, "points": points, "reason": "x", "made_at": 0.0}
    await site.store.lti_scores._database.write(lambda connection: connection.execute(insert(overrides).values(row)))


async def delivery(site: Site, bob: AccountId) -> Delivery:
    (one,) = await site.store.lti_scores.of_account(bob)
    return one


async def pass_on(sender: GradeSender, clock: StoppedClock, minutes: float = 1) -> int:
    """Compare, wait, and send; returns how many were tried."""
    await sender.compare()
    clock.now += timedelta(minutes=minutes)
    return await sender.send()


async def test_a_grade_makes_its_column_and_arrives_once(
    site: Site, platform: FakePlatform, bob: AccountId, sender: GradeSender, clock: StoppedClock
) -> None:
    assert await sender.compare() == 0
    await decide(site, bob, 7.5)
    assert await sender.compare() == 1
    assert await sender.send() == 0

    clock.now += timedelta(minutes=1)
    assert (await sender.send(), await sender.send(), await sender.compare()) == (1, 0, 0)

    (item,) = platform.line_items
    (section,) = await site.store.sections.all()
    (one,) = await site.store.assignments.of_section(section.id)
    assert (item["label"], item["scoreMaximum"], item["resourceId"]) == ("Double it", 10.0, one.id)
    (score,) = platform.scores
    assert score["at"] == f"{ISSUER}/lineitems/0/scores?type=1"
    assert (score["userId"], score["scoreGiven"], score["scoreMaximum"]) == ("bob-2", 7.5, 10.0)
    assert (await delivery(site, bob)).state == SENT


async def test_a_burst_of_changes_is_one_message_and_a_lower_grade_is_sent_too(
    site: Site, platform: FakePlatform, bob: AccountId, sender: GradeSender, clock: StoppedClock
) -> None:
    for points in (2, 9, 4):
        await decide(site, bob, points)
        await sender.compare()
    await pass_on(sender, clock)
    await decide(site, bob, 1)
    await pass_on(sender, clock)

    assert [score["scoreGiven"] for score in platform.scores] == [4, 1]


async def test_nothing_is_sent_of_an_assignment_before_it_opens(
    site: Site, platform: FakePlatform, bob: AccountId, sender: GradeSender, clock: StoppedClock
) -> None:
    (section,) = await site.store.sections.all()
    (one,) = await site.store.assignments.of_section(section.id)
    later = replace(one, opens_at=clock.now + timedelta(hours=1))
    await site.store.assignments.change(section.id, later, somebody(site))
    await decide(site, bob, 5)

    before = await pass_on(sender, clock, minutes=30)
    clock.now += timedelta(minutes=30)

    assert (before, await pass_on(sender, clock)) == (0, 1)
    assert platform.latest() == {"bob-2": 5}


async def test_whoever_has_another_id_at_the_platform_now_gets_their_grade_there_too(
    stranger: httpx2.AsyncClient,
    site: Site,
    platform: FakePlatform,
    bob: AccountId,
    sender: GradeSender,
    clock: StoppedClock,
) -> None:
    await decide(site, bob, 5)
    await pass_on(sender, clock)

    page = await launch(stranger, platform, BOB | {"sub": "bob-9"})
    linked = await stranger.post("/lti/open", data={"ticket": read_ticket(page.text), "choice": "mine"})
    assert linked.status_code == 303
    await pass_on(sender, clock)

    assert platform.latest() == {"bob-2": 5, "bob-9": 5}


async def test_a_grade_that_is_taken_away_is_taken_back(
    site: Site, platform: FakePlatform, bob: AccountId, sender: GradeSender, clock: StoppedClock
) -> None:
    await decide(site, bob, 4)
    await pass_on(sender, clock)
    await decide(site, bob, None)
    await pass_on(sender, clock)

    assert platform.scores[-1]["gradingProgress"] == "NotReady"
    assert "scoreGiven" not in platform.scores[-1]


async def test_the_column_of_the_launch_or_with_our_id_is_used_before_one_is_made(
    stranger: httpx2.AsyncClient,
    site: Site,
    platform: FakePlatform,
    bob: AccountId,
    sender: GradeSender,
    clock: StoppedClock,
) -> None:
    (section,) = await site.store.sections.all()
    (one,) = await site.store.assignments.of_section(section.id)
    platform.line_items = [
        {"id": f"{ISSUER}/lineitems/other", "resourceId": "another"},
        {"id": f"{ISSUER}/lineitems/ours", "resourceId": one.id},
    ]
    await decide(site, bob, 3)
    await pass_on(sender, clock)
    named = {"lineitems": f"{ISSUER}/lineitems", "lineitem": f"{ISSUER}/lineitems/linked", "scope": [SCORE, LINEITEM]}
    await enter(stranger, platform, BOB, **{f"{CLAIM}custom": {"exercise": "double"}, GRADES: named})
    await pass_on(sender, clock)

    assert [score["at"] for score in platform.scores] == [
        f"{ISSUER}/lineitems/ours/scores",
        f"{ISSUER}/lineitems/linked/scores",
    ]
    assert len(platform.line_items) == 2


async def test_a_process_that_ends_before_it_has_noted_the_answer_sends_once_more_with_a_later_timestamp(
    site: Site, platform: FakePlatform, bob: AccountId, sender: GradeSender, clock: StoppedClock
) -> None:
    await decide(site, bob, 5)
    await sender.compare()
    clock.now += timedelta(minutes=1)
    (lost,) = await site.store.lti_scores.claim(clock(), 50)
    assert await make_sender(site).send() == 0

    clock.now += timedelta(minutes=3)
    assert await make_sender(site).send() == 1

    assert platform.latest() == {"bob-2": 5}
    assert find_seconds(platform.scores[-1]["timestamp"]) > int(lost.stamp)


def find_seconds(timestamp: str) -> int:
    return int(datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp())


async def test_the_newest_grade_wins_though_the_clock_went_back_a_minute(
    site: Site, platform: FakePlatform, bob: AccountId, sender: GradeSender, clock: StoppedClock
) -> None:
    await decide(site, bob, 5)
    await pass_on(sender, clock)
    clock.now -= timedelta(minutes=2)
    await decide(site, bob, 6)
    await pass_on(sender, clock)

    assert [score["scoreGiven"] for score in platform.scores] == [5, 6]


async def test_a_conflict_of_timestamps_is_solved_at_once_by_a_later_one(
    site: Site, platform: FakePlatform, bob: AccountId, sender: GradeSender, clock: StoppedClock
) -> None:
    for status in (409, 400):
        platform.failures = [httpx2.Response(status)]
        await decide(site, bob, float(status) / 100)
        await pass_on(sender, clock)

    assert [score["scoreGiven"] for score in platform.scores] == [4.09, 4.0]


async def test_a_busy_platform_is_asked_again_when_it_says(
    site: Site, platform: FakePlatform, bob: AccountId, sender: GradeSender, clock: StoppedClock
) -> None:
    platform.failures = [httpx2.Response(429, headers={"retry-after": "600"}), httpx2.Response(503)]
    await decide(site, bob, 5)
    await pass_on(sender, clock)
    waiting = await delivery(site, bob)
    assert (waiting.state, waiting.problem) == (DUE, "The platform is busy; the grade is sent again later.")
    clock.now += timedelta(minutes=9)
    assert (await sender.send(), platform.failures != []) == (0, True)

    clock.now += timedelta(minutes=1)
    await sender.send()
    clock.now += timedelta(minutes=5)
    await sender.send()

    assert platform.latest() == {"bob-2": 5}
    assert len(platform.scores) == 1
    assert (await delivery(site, bob)).problem == ""


async def test_a_token_that_ran_out_is_replaced(
    site: Site, platform: FakePlatform, bob: AccountId, sender: GradeSender, clock: StoppedClock
) -> None:
    await decide(site, bob, 5)
    await pass_on(sender, clock)
    platform.tokens += 1
    await decide(site, bob, 6)
    await pass_on(sender, clock)

    assert platform.latest() == {"bob-2": 6}


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ([403], "lets this site send no grades for this assignment"),
        ([404], "column for this assignment is gone"),
        ([422], "is no student of its course"),
        ([400, 400], "is no student of its course"),
    ],
)
async def test_what_will_not_work_stops_and_is_said_until_somebody_asks_again(
    stranger: httpx2.AsyncClient,
    site: Site,
    platform: FakePlatform,
    bob: AccountId,
    sender: GradeSender,
    clock: StoppedClock,
    answers: list[int],
    says: str,
) -> None:
    platform.failures = [httpx2.Response(status) for status in answers]
    await decide(site, bob, 5)
    await pass_on(sender, clock)

    stopped = await delivery(site, bob)
    assert stopped.state == STOPPED
    assert says in stopped.problem
    clock.now += timedelta(days=1)
    assert await sender.send() == 0
    await site.store.lti_scores.send_again({"account": bob}, somebody(site))
    await sender.send()
    assert platform.latest() == {"bob-2": 5}


async def test_a_platform_that_allows_no_grades_is_sent_none(
    browser: httpx2.AsyncClient,
    stranger: httpx2.AsyncClient,
    site: Site,
    platform: FakePlatform,
    bob: AccountId,
    sender: GradeSender,
    clock: StoppedClock,
) -> None:
    await enter(stranger, platform, BOB, **{GRADES: {"lineitems": f"{ISSUER}/lineitems", "scope": ["other"]}})
    await decide(site, bob, 5)
    await pass_on(sender, clock)

    assert (platform.scores, platform.line_items) == ([], [])
    assert "lets this site send no grades" in (await delivery(site, bob)).problem


async def test_a_platform_that_is_away_is_not_asked_for_each_grade(
    site: Site, platform: FakePlatform, bob: AccountId, sender: GradeSender, clock: StoppedClock
) -> None:
    (section,) = await site.store.sections.all()
    more = Assignment("", Kind.PREDICTIONS, "a-first-graph", "Predict", 1.0)
    await site.store.assignments.make(section.id, [more], somebody(site))
    (course,) = await site.store.lti_courses.of_section(section.id)
    scores = [Score(one.id, bob, 1.0, 1.0) for one in await site.store.assignments.of_section(section.id)]
    await site.store.lti_scores.note(course.id, scores, clock())
    tried: list[str] = []

    def be_away(request: httpx2.Request) -> httpx2.Response:
        tried.append(request.url.path)
        raise httpx2.ConnectError("away")

    site.platforms._http = httpx2.AsyncClient(transport=httpx2.MockTransport(be_away))
    clock.now += timedelta(minutes=1)
    await sender.send()

    assert len(tried) == 1
    states = [(one.state, bool(one.problem)) for one in await site.store.lti_scores.of_account(bob)]
    assert sorted(states) == [(DUE, False), (DUE, True)]


async def test_a_column_that_is_refused_holds_up_no_other_grade(
    site: Site, platform: FakePlatform, bob: AccountId, sender: GradeSender, clock: StoppedClock
) -> None:
    (section,) = await site.store.sections.all()
    more = Assignment("", Kind.PREDICTIONS, "a-first-graph", "Predict", 1.0)
    await site.store.assignments.make(section.id, [more], somebody(site))
    (course,) = await site.store.lti_courses.of_section(section.id)
    scores = [Score(one.id, bob, 1.0, one.points) for one in await site.store.assignments.of_section(section.id)]
    await site.store.lti_scores.note(course.id, scores, clock())

    def refuse_one(request: httpx2.Request) -> httpx2.Response:
        is_it = request.method == "POST" and b"Double it" in request.content
        return httpx2.Response(422) if is_it else platform.answer(request)

    site.platforms._http = httpx2.AsyncClient(transport=httpx2.MockTransport(refuse_one))
    clock.now += timedelta(minutes=1)
    await sender.send()

    found = {one.title: one for one in await site.store.lti_scores.of_account(bob)}
    assert {title: one.state for title, one in found.items()} == {"Double it": STOPPED, "Predict": SENT}
    assert "lets this site make none" in found["Double it"].problem


async def test_a_grade_that_changes_while_it_is_sent_is_sent_again(
    site: Site, platform: FakePlatform, bob: AccountId, sender: GradeSender, clock: StoppedClock
) -> None:
    await decide(site, bob, 5)
    await sender.compare()
    clock.now += timedelta(minutes=1)
    scores = site.store.lti_scores
    (claimed,) = await scores.claim(clock(), 50)
    await decide(site, bob, 6)
    await sender.compare()
    await scores.finish(claimed, claimed.stamp, clock())

    assert (await delivery(site, bob)).state == DUE
    clock.now += timedelta(minutes=1)
    await sender.send()
    assert platform.latest() == {"bob-2": 6}


async def test_whoever_is_no_learner_of_the_section_is_sent_no_grade(
    site: Site, platform: FakePlatform, bob: AccountId, sender: GradeSender, clock: StoppedClock
) -> None:
    (section,) = await site.store.sections.all()
    await decide(site, bob, 5)
    await site.store.sections.drop(section.id, bob, somebody(site))

    assert await sender.compare() == 0


@pytest.mark.parametrize("settle", ["finish", "stop", "postpone"])
async def test_what_another_process_settled_is_not_settled_again(
    site: Site, platform: FakePlatform, bob: AccountId, sender: GradeSender, clock: StoppedClock, settle: str
) -> None:
    await decide(site, bob, 5)
    await sender.compare()
    clock.now += timedelta(minutes=1)
    scores = site.store.lti_scores
    (claimed,) = await scores.claim(clock(), 50)
    await scores.finish(claimed, claimed.stamp, clock())
    late: dict[str, Callable[[Claimed], object]] = {
        "finish": lambda one: scores.finish(one, one.stamp, clock()),
        "stop": lambda one: scores.stop(one, one.stamp, "late"),
        "postpone": lambda one: scores.postpone(one, one.stamp, clock(), "late"),
    }
    await late[settle](claimed)  # type: ignore[misc]

    found = await delivery(site, bob)
    assert (found.state, found.problem) == (SENT, "")


async def test_the_learner_sees_when_a_grade_was_sent_and_sends_it_again(
    stranger: httpx2.AsyncClient,
    browser: httpx2.AsyncClient,
    site: Site,
    platform: FakePlatform,
    bob: AccountId,
    sender: GradeSender,
    clock: StoppedClock,
) -> None:
    await decide(site, bob, 5)
    await sender.compare()
    assert "on its way" in (await stranger.get("/me/sent-grades")).text
    clock.now += timedelta(minutes=1)
    await sender.send()
    assert "sent Sun 1 Mar 2026 12:01 (UTC)" in (await stranger.get("/me/sent-grades")).text

    found = await delivery(site, bob)
    form = {"course": found.course, "assignment": found.assignment}
    assert (await browser.post("/me/sent-grades", data=form)).status_code == 404
    assert (await stranger.post("/me/sent-grades", data=form)).status_code == 303
    assert (await stranger.post("/me/sent-grades", data=form)).status_code == 404
    await sender.send()
    assert [score["scoreGiven"] for score in platform.scores] == [5, 5]


async def test_the_instructor_sees_what_did_not_arrive_and_why_and_sends_all_again(
    browser: httpx2.AsyncClient,
    stranger: httpx2.AsyncClient,
    site: Site,
    platform: FakePlatform,
    bob: AccountId,
    sender: GradeSender,
    clock: StoppedClock,
) -> None:
    platform.failures = [httpx2.Response(404)]
    await decide(site, bob, 5)
    await pass_on(sender, clock)
    found = await delivery(site, bob)
    page = f"/desk/{found.section}/platform"

    listed = (await browser.get(page)).text
    assert "0 arrived, 0 on their way, 1 stopped" in listed
    assert "Not one grade has arrived." in listed
    assert "column for this assignment is gone" in listed
    assert (await stranger.get(page)).status_code == 403
    assert (await browser.post(f"{page}/{found.course}/send")).status_code == 303
    assert (await browser.post(f"{page}/other/send")).status_code == 404

    platform.line_items.clear()
    await sender.send()
    assert len(platform.line_items) == 1
    assert "1 arrived, 0 on their way, 0 stopped" in (await browser.get(page)).text


async def test_an_unlinked_course_is_sent_nothing(
    browser: httpx2.AsyncClient,
    site: Site,
    platform: FakePlatform,
    bob: AccountId,
    sender: GradeSender,
    clock: StoppedClock,
) -> None:
    await decide(site, bob, 5)
    await sender.compare()
    found = await delivery(site, bob)

    assert (await browser.post(f"/desk/{found.section}/platform/{found.course}/unlink")).status_code == 303

    clock.now += timedelta(minutes=1)
    assert (await sender.send(), await sender.compare(), platform.scores) == (0, 0, [])

"""An instructor sees the course as a learner: only what staff may see, nothing changed, and a line in the audit."""

import re
from datetime import timedelta

import httpx2
import pytest
from handing_in import EXERCISE, LOOPS, WRONG, hand_in, make_class, staff
from people import join, make_account, sign_in, somebody
from routes import all_routes
from site_parts import StoppedClock
from sqlalchemy import Connection, select, text

from app.access.permissions import Role
from app.course.questions.marking import QuestionResponse
from app.learning.grading import Allowance, Assignment, Kind
from app.storage.audit import Actor
from app.storage.comments import NewComment
from app.storage.draft_key import exercise_key
from app.storage.notes import Note
from app.storage.records import Account, AccountId, Answer, Prediction, SectionId
from app.storage.statements import fetch
from app.storage.tables import audit, metadata
from app.storage.viewings import VIEWING_LASTS
from app.web.edge.access import END_OF_VIEWING, OF_NO_READER, SHOWN_WHILE_VIEWING
from app.web.edge.security import SAFE_METHODS
from app.web.edge.site import Site
from graders.contract.model import SubmissionId
from graders.contract.results import Outcome

PRIVATE = "quillfeather"
"""A word in all that is Ada's own and no business of her section's."""
BANNER = "You see the course as <strong>"


@pytest.fixture
async def spring(site: Site) -> tuple[SectionId, dict[str, Account]]:
    """Ada and Bob are learners of Tess's section, in which Uri assists."""
    section, people = await make_class(site, "Ada", "Bob")
    people |= {"Tess": await staff(site, section, "Tess"), "Uri": await staff(site, section, "Uri", Role.ASSISTANT)}
    return section, people


Spring = tuple[SectionId, dict[str, Account]]


async def begin(
    browser: httpx2.AsyncClient, section: SectionId, account: Account, reason: str = "She asked me to look."
) -> httpx2.Response:
    return await browser.post(f"/desk/{section}/people/{account.id}/view-as", data={"reason": reason})


async def read_audit(site: Site) -> list[tuple[str, str | None, str, str | None]]:
    query = select(audit.c.verb, audit.c.actor, audit.c.object, audit.c.reason).order_by(audit.c.number)
    rows = await site.ledger.database.read(fetch, query.where(audit.c.verb.in_(["view as", "end a view"])))
    return [(row.verb, row.actor, row.object, row.reason) for row in rows]


async def count_rows(site: Site) -> dict[str, int]:
    def count(connection: Connection) -> dict[str, int]:
        names = [*metadata.tables, "submissions"]
        return {name: connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one() for name in names}

    return await site.ledger.database.read(count)


async def test_a_view_shows_the_person_s_submissions_under_a_banner_until_it_is_ended(
    browser: httpx2.AsyncClient, site: Site, spring: Spring
) -> None:
    section, people = spring
    handed_in = await hand_in(site, people["Ada"], LOOPS)
    await sign_in(browser, "Tess")

    begun = await begin(browser, section, people["Ada"])
    submission = await browser.get(f"/exercises/{EXERCISE}/submissions/{handed_in}")
    pages = [await browser.get(path) for path in ("/", "/course", f"/exercises/{EXERCISE}", "/me/grades", "/help")]

    assert (begun.status_code, begun.headers["location"]) == (303, "/course")
    assert all(f"{BANNER}Ada</strong>" in page.text for page in (submission, *pages))
    assert "Passed: every case is right" in submission.text
    assert f"/exercises/{EXERCISE}/submissions/{handed_in}" in pages[2].text

    ended = await browser.post(END_OF_VIEWING)
    assert ended.headers["location"] == f"/desk/{section}/view-as"
    assert BANNER not in (await browser.get("/course")).text
    assert (await browser.get(f"/exercises/{EXERCISE}/submissions/{handed_in}")).status_code == 404
    tess, ada = people["Tess"].id, people["Ada"].id
    assert await read_audit(site) == [
        ("view as", tess, ada, "She asked me to look."),
        ("end a view", tess, ada, None),
    ]


SERVED = [(method, path) for method, path in sorted(all_routes()) if not path.startswith("/preview")]
"""Every route but those of the author's preview, which a site with learners does not have."""
UNSAFE = [each for each in SERVED if each[0] not in SAFE_METHODS and each[1] != END_OF_VIEWING]
SAFE = [path for method, path in SERVED if method == "GET"]


def fill(path: str, section: SectionId, account: AccountId, submission: SubmissionId) -> str:
    known = {"section": section, "account": account, "submission": submission, "submission_id": submission}
    known |= {"name": EXERCISE, "exercise": EXERCISE, "slug": "a-first-graph", "number": "1"}
    return re.sub(r"\{(\w+)(:path)?\}", lambda found: known.get(found.group(1), "x"), path)


async def test_a_view_changes_nothing_whatever_is_sent(
    browser: httpx2.AsyncClient, site: Site, spring: Spring
) -> None:
    section, people = spring
    handed_in = await hand_in(site, people["Ada"], LOOPS)
    await sign_in(browser, "Tess")
    await begin(browser, section, people["Ada"])
    before = await count_rows(site)
    passed = []

    for method, path in UNSAFE:
        url = fill(path, section, people["Ada"].id, handed_in)
        sent = {"json": {}} if path.startswith("/api/") else {"data": {"text": "x", "name": "x"}}
        answer = await browser.request(method, url, **sent)  # type: ignore[arg-type]
        if answer.status_code != 403:
            passed.append((method, path, answer.status_code))

    assert passed == []
    assert len(UNSAFE) > 50
    assert await count_rows(site) == before
    assert BANNER in (await browser.get("/course")).text


async def plant(site: Site, spring: Spring) -> dict[str, SubmissionId]:
    """Ada's drafts, notes, answers and so on, and what another section says to her, each with the private word."""
    _, people = spring
    ada, now, store = people["Ada"], site.clock(), site.store
    autumn, _ = await make_class(site, title=f"Autumn {PRIVATE}")
    vic = await staff(site, autumn, "Vic")
    await join(site, autumn, ada, Role.LEARNER)
    await store.save_draft(ada.learner, exercise_key(EXERCISE), f"# {PRIVATE}", now)
    await store.open_hint(ada.learner, EXERCISE, 1, now)
    for page, block in (("chapters/a-first-graph", "how-many-nodes"), (f"exercises/{EXERCISE}", "prompt")):
        await store.notes.save(ada.learner, Note(page, block, PRIVATE, "0" * 16, now))
    response = QuestionResponse((), PRIVATE, (), None)
    await store.add_answer(ada.learner, "a-first-graph", Answer("how-many-nodes", response, True, now))
    await store.commit_prediction(ada.learner, "a-first-graph", Prediction("grows", PRIVATE, None, now))
    await store.keep_position(ada.learner, "a-first-graph", PRIVATE, now)
    handed_in = await hand_in(site, ada, LOOPS)
    wanted = NewComment(handed_in, EXERCISE, None, f"From autumn: {PRIVATE}")
    learner = await store.class_submissions.find_learner(autumn, ada.id)
    assert learner is not None
    await store.comments.add(autumn, learner, wanted, Actor(vic.id, now))
    lab = Assignment("", Kind.EXERCISE, EXERCISE, f"Lab of {PRIVATE}", points=10)
    await store.assignments.make(autumn, [lab], somebody(site))
    return {"handed_in": handed_in, "of_bob": await hand_in(site, people["Bob"], WRONG, Outcome.WRONG_ANSWER)}


async def test_no_page_of_a_view_has_what_is_a_person_s_own(
    browser: httpx2.AsyncClient, site: Site, spring: Spring
) -> None:
    """Each address that can be read is either closed, or shows nothing that is private."""
    section, people = spring
    planted = await plant(site, spring)
    await sign_in(browser, "Tess")
    await begin(browser, section, people["Ada"])
    leaks, open_ones, bare = [], set(), []

    for path in SAFE:
        answer = await browser.get(fill(path, section, people["Ada"].id, planted["handed_in"]))
        leaks += [path] if PRIVATE in answer.text else []
        open_ones |= {path} if answer.status_code != 403 else set()
        is_page = "text/html" in answer.headers.get("content-type", "")
        bare += [path] if is_page and BANNER not in answer.text else []

    assert leaks == []
    assert open_ones == SHOWN_WHILE_VIEWING | (OF_NO_READER & set(SAFE))
    # The address of a static file that there is not, or of a style sheet.
    assert set(bare) <= OF_NO_READER


async def test_the_planted_things_are_there_for_ada_herself(
    browser: httpx2.AsyncClient, site: Site, spring: Spring
) -> None:
    """The control of the test above: signed in as herself, she finds what a view must not show."""
    planted = await plant(site, spring)
    await sign_in(browser, "Ada")
    handed_in = f"/exercises/{EXERCISE}/submissions/{planted['handed_in']}"

    seen = [
        path
        for path in (f"/exercises/{EXERCISE}", handed_in, "/notes", "/me/grades", "/me/comments", "/me/export.json")
        if PRIVATE in (await browser.get(path)).text
    ]

    assert seen == [f"/exercises/{EXERCISE}", handed_in, "/notes", "/me/grades", "/me/comments", "/me/export.json"]


async def test_a_view_shows_nothing_of_anybody_else(browser: httpx2.AsyncClient, site: Site, spring: Spring) -> None:
    section, people = spring
    planted = await plant(site, spring)
    await sign_in(browser, "Tess")
    await hand_in(site, people["Tess"], f"# of Tess\n{LOOPS}")
    await begin(browser, section, people["Ada"])

    assert (await browser.get(f"/exercises/{EXERCISE}/submissions/{planted['of_bob']}")).status_code == 404
    assert "of Tess" not in (await browser.get(f"/exercises/{EXERCISE}")).text


async def test_a_look_does_not_make_a_comment_read(browser: httpx2.AsyncClient, site: Site, spring: Spring) -> None:
    section, people = spring
    handed_in = await hand_in(site, people["Ada"], LOOPS)
    await sign_in(browser, "Tess")
    said = await browser.post(f"/desk/{section}/submissions/{handed_in}/comments", data={"text": "Well done."})
    assert said.status_code == 303
    await begin(browser, section, people["Ada"])

    assert "Well done." in (await browser.get(f"/exercises/{EXERCISE}/submissions/{handed_in}")).text
    assert await site.store.comments.count_unread(people["Ada"].learner) == {handed_in: 1}


async def test_the_person_s_extension_and_grades_are_shown_for_this_section(
    browser: httpx2.AsyncClient, site: Site, spring: Spring
) -> None:
    section, people = spring
    due = site.clock() + timedelta(days=1)
    lab = Assignment("", Kind.EXERCISE, EXERCISE, "Lab of spring", points=10, due_at=due)
    await site.store.assignments.make(section, [lab], somebody(site))
    (made,) = await site.store.assignments.of_section(section)
    later = Allowance(due_at=due + timedelta(days=3), reason="Ill.")
    await site.store.assignments.grant(section, made.id, people["Ada"].id, later, somebody(site))
    await sign_in(browser, "Tess")
    await begin(browser, section, people["Ada"])

    grades, exercise = [(await browser.get(path)).text for path in ("/me/grades", f"/exercises/{EXERCISE}")]

    assert "Lab of spring" in grades
    assert "due Thu 5 Mar 2026 12:00 (UTC)" in exercise


async def test_as_any_learner_one_sees_what_is_set_at_that_time_and_nobody_s_work(
    browser: httpx2.AsyncClient, site: Site, spring: Spring
) -> None:
    section, _ = spring
    await plant(site, spring)
    opens = site.clock() + timedelta(days=10)
    lab = Assignment("", Kind.EXERCISE, EXERCISE, "Lab of spring", points=10, opens_at=opens)
    await site.store.assignments.make(section, [lab], somebody(site))
    await sign_in(browser, "Tess")

    seen = {}
    for at in ("2026-03-02T12:00", "2026-04-01T12:00"):
        begun = await browser.post(f"/desk/{section}/view-as", data={"at": at})
        assert begun.status_code == 303
        seen[at] = (await browser.get("/me/grades")).text
        exercise = (await browser.get(f"/exercises/{EXERCISE}")).text
        assert "/submissions/" not in exercise.partition('id="history"')[2]
        assert PRIVATE not in exercise + seen[at]
        await browser.post(END_OF_VIEWING)

    assert ["Lab of spring" in page for page in seen.values()] == [False, True]
    assert "2026-04-01 12:00 UTC" in seen["2026-04-01T12:00"]
    assert [line[2] for line in await read_audit(site)] == ["any learner"] * 4


async def test_a_view_ends_after_half_an_hour(
    browser: httpx2.AsyncClient, site: Site, spring: Spring, clock: StoppedClock
) -> None:
    section, people = spring
    await sign_in(browser, "Tess")
    await begin(browser, section, people["Ada"])

    clock.now += VIEWING_LASTS - timedelta(seconds=1)
    assert BANNER in (await browser.get("/course")).text
    clock.now += timedelta(seconds=1)
    page = (await browser.get("/course")).text

    assert BANNER not in page
    assert ">Tess</a>" in page


async def test_a_view_ends_with_its_session_and_holds_in_no_other(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, spring: Spring
) -> None:
    section, people = spring
    for each in (browser, stranger):
        await sign_in(each, "Tess")
    await begin(browser, section, people["Ada"])
    assert BANNER not in (await stranger.get("/course")).text

    await site.store.sessions.end_others(people["Tess"].id)

    assert (await count_rows(site))["viewings"] == 0
    assert BANNER not in (await browser.get("/course")).text


async def test_a_view_ends_when_its_right_does(browser: httpx2.AsyncClient, site: Site, spring: Spring) -> None:
    """The learner becomes staff somewhere, or leaves; or the instructor is no longer one."""
    section, people = spring
    autumn, _ = await make_class(site, title="Autumn")
    await sign_in(browser, "Tess")
    for account, change in (("Ada", "staff"), ("Bob", "leaves")):
        assert (await begin(browser, section, people[account])).status_code == 303
        assert BANNER in (await browser.get("/course")).text
        if change == "staff":
            await join(site, autumn, people[account], Role.ASSISTANT)
        else:
            await site.store.sections.leave(section, Actor(people[account].id, site.clock()))
        assert BANNER not in (await browser.get("/course")).text


async def test_nobody_but_an_active_learner_of_the_section_is_seen(
    browser: httpx2.AsyncClient, site: Site, spring: Spring
) -> None:
    section, people = spring
    autumn, others = await make_class(site, "Cyd", "Dora", title="Autumn")
    operator = await make_account(site, "Olga", is_operator=True)
    await join(site, section, operator, Role.LEARNER)
    await join(site, section, others["Dora"], Role.LEARNER)
    await join(site, autumn, people["Bob"], Role.ASSISTANT)
    await sign_in(browser, "Tess")

    for account in (people["Tess"], people["Uri"], people["Bob"], others["Cyd"], operator):
        assert (await begin(browser, section, account)).status_code == 404
        assert (await browser.get(f"/desk/{section}/view-as?account={account.id}")).status_code == 404
    assert (await begin(browser, autumn, others["Cyd"])).status_code == 404
    assert (await begin(browser, section, others["Dora"])).status_code == 303


async def test_a_reason_is_asked_for_and_comes_back_if_it_is_too_long(
    browser: httpx2.AsyncClient, site: Site, spring: Spring
) -> None:
    section, people = spring
    await sign_in(browser, "Tess")

    answers = [await begin(browser, section, people["Ada"], reason) for reason in ("", "  ", "x" * 301)]

    assert [answer.status_code for answer in answers] == [422] * 3
    assert "x" * 301 in answers[2].text
    assert await read_audit(site) == []


async def test_an_assistant_sees_the_course_as_nobody_else(
    browser: httpx2.AsyncClient, site: Site, spring: Spring
) -> None:
    section, people = spring
    await sign_in(browser, "Uri")

    assert (await begin(browser, section, people["Ada"])).status_code == 403
    assert (await browser.post(f"/desk/{section}/view-as", data={"at": ""})).status_code == 403
    assert "view-as" not in (await browser.get(f"/desk/{section}/submissions")).text


async def test_the_person_s_copy_of_their_data_says_who_looked(
    browser: httpx2.AsyncClient, site: Site, spring: Spring
) -> None:
    section, people = spring
    await sign_in(browser, "Tess")
    await begin(browser, section, people["Ada"])

    exported = (await site.store.export(people["Ada"].learner))["audit"]

    (line,) = [row for row in exported if row["verb"] == "view as"]
    assert (line["actor"], line["reason"]) == (people["Tess"].id, "She asked me to look.")

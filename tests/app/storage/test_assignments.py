"""Assignments: what counts for them is read for a class at once, and an allowance is for one person."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection, insert, select, text

from app.access.permissions import Role
from app.course.questions.marking import QuestionResponse
from app.learning.grading import Allowance, Assignment, Counts, Credit, HandedIn, Kind, Override, Policy
from app.storage.audit import Actor
from app.storage.records import Account, Answer, Prediction, SectionId
from app.storage.statements import fetch
from app.storage.store import Store
from app.storage.tables import audit, overrides, sections
from graders.ledger import Database
from graders.ledger.records import Kind as JobKind
from graders.ledger.records import State
from graders.ledger.tables import submissions

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
SOMEBODY = Actor(None, NOON)
LAB = Assignment("", Kind.EXERCISE, "relu-vjp", "ReLU", points=10, due_at=NOON + 24 * HOUR)
QUESTIONS = Assignment("", Kind.RETRIEVAL, "tape", "Tape: questions", points=4, credit=Credit.SHARE)
GUESSES = Assignment("", Kind.PREDICTIONS, "tape", "Tape: predictions", points=2, counts=Counts.DONE)


async def make_learner(store: Store, section: SectionId, name: str, role: Role = Role.LEARNER) -> Account:
    account = await store.accounts.create(name, "hash", SOMEBODY, is_operator=False)
    assert account is not None
    assert await store.sections.invite(section, account.name, role, SOMEBODY)
    assert await store.sections.accept(section, Actor(account.id, NOON))
    return account


async def assign(store: Store, section: SectionId, *new: Assignment) -> tuple[Assignment, ...]:
    await store.assignments.make(section, new, SOMEBODY)
    return await store.assignments.of_section(section)


def _insert_submission(
    connection: Connection, learner: str, id: str, at: datetime, values: dict[str, object]
) -> None:
    row = {
        "id": id,
        "learner": learner,
        "idempotency_key": id,
        "kind": JobKind.GRADE,
        "exercise": "relu-vjp",
        "queue": "cpu",
        "priority": 0,
        "job": "{}",
        "state": State.FINISHED,
        "claim_number": 1,
        "lost_workers": 0,
        "last_seq": 1,
        "submitted_at": at.timestamp(),
        "outcome": "wrong_answer",
        "cases_passed": 0,
        "cases_total": 4,
    }
    connection.execute(insert(submissions).values(row | values))


async def submit(database: Database, account: Account, id: str, at: datetime, **values: object) -> None:
    await database.write(_insert_submission, account.learner, id, at, values)


@pytest.fixture
async def section(store: Store) -> SectionId:
    return await store.sections.make("Spring", SOMEBODY)


async def test_assignments_keep_what_was_written_and_the_order_of_the_section(
    store: Store, section: SectionId
) -> None:
    made = await assign(store, section, LAB, QUESTIONS, LAB)

    assert [(one.target, one.position) for one in made] == [("relu-vjp", 0), ("tape", 1)]
    assert replace(made[0], id="") == LAB
    assert await store.assignments.move(section, made[1].id, up=True)
    assert not await store.assignments.move(section, made[1].id, up=True)
    assert [one.target for one in await store.assignments.of_section(section)] == ["tape", "relu-vjp"]


async def test_a_change_is_audited_with_what_was_there_before(
    store: Store, section: SectionId, database: Database
) -> None:
    (lab,) = await assign(store, section, LAB)
    changed = replace(lab, points=12, closes_at=NOON + 48 * HOUR, published=False)

    assert await store.assignments.change(section, changed, SOMEBODY)

    assert await store.assignments.of_section(section) == (changed,)
    lines = await database.read(fetch, select(audit.c.verb, audit.c.before, audit.c.after))
    assert tuple(lines[-1]) == (
        "change an assignment",
        "points 10.0, closes at none, published True",
        "points 12, closes at 2026-03-03 12:00 UTC, published False",
    )


async def test_another_section_s_assignment_is_not_found(store: Store, section: SectionId) -> None:
    other = await store.sections.make("Autumn", SOMEBODY)
    (lab,) = await assign(store, section, LAB)
    ada = await make_learner(store, other, "Ada")

    assert not await store.assignments.change(other, lab, SOMEBODY)
    assert not await store.assignments.delete(other, lab, SOMEBODY)
    assert not await store.assignments.move(other, lab.id, up=True)
    assert not await store.assignments.grant(other, lab.id, ada.id, Allowance(), SOMEBODY)
    assert not await store.assignments.grant(section, lab.id, ada.id, Allowance(), SOMEBODY)
    assert len(await store.assignments.of_section(section)) == 1


async def test_the_policy_is_the_section_s(store: Store, section: SectionId, database: Database) -> None:
    values = {"zone": "Europe/Zurich", "grace_minutes": 15, "late_percent_a_day": 20}
    await database.write(lambda connection: connection.execute(sections.update().values(values)))

    assert await store.assignments.policy(section) == Policy(ZoneInfo("Europe/Zurich"), timedelta(minutes=15), 20)


async def test_finished_attempts_count_with_their_share_of_cases(
    store: Store, section: SectionId, database: Database
) -> None:
    ada = await make_learner(store, section, "Ada")
    (lab,) = await assign(store, section, LAB)
    await submit(database, ada, "a", NOON, cases_passed=3)
    await submit(database, ada, "b", NOON + HOUR, outcome="grader_fault")
    await submit(database, ada, "c", NOON + HOUR, state=State.RUNNING, outcome=None)
    await submit(database, ada, "d", NOON + HOUR, kind=JobKind.CHECK, outcome="ok")
    await submit(database, ada, "e", NOON + 2 * HOUR, cases_passed=4)
    await submit(database, ada, "f", NOON + 3 * HOUR, cases_passed=4, outcome="passed")

    work = await store.assignments.class_work(section, [lab])

    assert work.handed_in == {
        (lab.id, ada.id): [
            HandedIn(NOON, 0.75, "", "a"),
            HandedIn(NOON + 2 * HOUR, 0.75, "", "e"),
            HandedIn(NOON + 3 * HOUR, 1, "", "f"),
        ]
    }


async def test_answers_of_the_chapter_count_and_those_in_review_do_not(store: Store, section: SectionId) -> None:
    ada = await make_learner(store, section, "Ada")
    questions, guesses = await assign(store, section, QUESTIONS, GUESSES)
    response = QuestionResponse((), "", ())
    given = [
        Answer("q1", response, False, NOON),
        Answer("q1", response, True, NOON + HOUR, in_review=True),
        Answer("q2", response, True, NOON + HOUR),
        Answer("open", response, None, NOON + HOUR),
    ]
    numbers = [await store.add_answer(ada.learner, "tape", answer) for answer in given]
    await store.add_answer(ada.learner, "other-chapter", given[2])
    await store.commit_prediction(ada.learner, "tape", Prediction("p1", "o", "sure", NOON))

    work = await store.assignments.class_work(section, [questions, guesses])
    done = await store.assignments.class_work(section, [replace(questions, counts=Counts.DONE)])

    assert work.handed_in[questions.id, ada.id] == [
        HandedIn(NOON, 0, "q1", str(numbers[0])),
        HandedIn(NOON + HOUR, 1, "q2", str(numbers[2])),
        HandedIn(NOON + HOUR, 0, "open", str(numbers[3])),
    ]
    assert work.handed_in[guesses.id, ada.id] == [HandedIn(NOON, 1, "p1")]
    assert {one.earned for one in done.handed_in[questions.id, ada.id]} == {1}


async def test_an_open_answer_counts_once_it_was_compared(store: Store, section: SectionId) -> None:
    ada = await make_learner(store, section, "Ada")
    (questions,) = await assign(store, section, QUESTIONS)
    response = QuestionResponse((), "because", ())
    await store.add_answer(ada.learner, "tape", Answer("open", response, False, NOON, ticked=()))
    await store.rate_answer(ada.learner, "tape", "open", [], False, 1)  # type: ignore[arg-type]

    work = await store.assignments.class_work(section, [questions])

    assert [one.earned for one in work.handed_in[questions.id, ada.id]] == [1]


async def test_only_accepted_learners_of_the_section_are_read_also_after_they_dropped(
    store: Store, section: SectionId, database: Database
) -> None:
    other = await store.sections.make("Autumn", SOMEBODY)
    ada, bob = await make_learner(store, section, "Ada"), await make_learner(store, section, "Bob")
    staff = await make_learner(store, section, "Staff", Role.ASSISTANT)
    elsewhere = await make_learner(store, other, "Else")
    invited = await store.accounts.create("Ivy", "hash", SOMEBODY, is_operator=False)
    assert invited is not None
    await store.sections.invite(section, "Ivy", Role.LEARNER, SOMEBODY)
    (lab,) = await assign(store, section, LAB)
    for number, account in enumerate((ada, bob, staff, elsewhere, invited)):
        await submit(database, account, str(number), NOON)
    dropped = text("UPDATE memberships SET status = 'dropped' WHERE account = :bob")
    await database.write(lambda connection: connection.execute(dropped, {"bob": bob.id}))

    work = await store.assignments.class_work(section, [lab])
    hers = await store.assignments.class_work(section, [lab], [ada.id, elsewhere.id])

    assert {account for _, account in work.handed_in} == {ada.id, bob.id}
    assert {account for _, account in hers.handed_in} == {ada.id}


async def test_who_handed_in_anything_is_counted_once_for_each_assignment(
    store: Store, section: SectionId, database: Database
) -> None:
    ada, bob = await make_learner(store, section, "Ada"), await make_learner(store, section, "Bob")
    other = await make_learner(store, await store.sections.make("Autumn", SOMEBODY), "Else")
    assigned = await assign(store, section, LAB, QUESTIONS, GUESSES)
    response = QuestionResponse((), "", ())
    for number, account in enumerate((ada, ada, bob, other)):
        await submit(database, account, str(number), NOON)
    for question in ("q1", "q2"):
        await store.add_answer(bob.learner, "tape", Answer(question, response, False, NOON))
    await store.add_answer(ada.learner, "tape", Answer("q1", response, True, NOON, in_review=True))

    counted = await store.assignments.count_handed_in(section, assigned)

    assert [counted[one.id] for one in assigned] == [2, 1, 0]


async def test_an_allowance_is_granted_replaced_and_withdrawn_with_its_reason(
    store: Store, section: SectionId, database: Database
) -> None:
    ada = await make_learner(store, section, "Ada")
    (lab,) = await assign(store, section, LAB)
    first, second = Allowance(NOON, reason="ill"), Allowance(excused=True, reason="very ill")

    for allowance in (first, second):
        assert await store.assignments.grant(section, lab.id, ada.id, allowance, Actor(ada.id, NOON))
    listed = await store.assignments.granted(section, lab.id)
    work = await store.assignments.class_work(section, [lab])

    assert [(one.name, one.allowance, one.granted_by) for one in listed] == [("Ada", second, "Ada")]
    assert work.allowances == {(lab.id, ada.id): second}
    assert await store.assignments.withdraw(section, lab.id, ada.id, "a mistake", SOMEBODY)
    assert not await store.assignments.withdraw(section, lab.id, ada.id, "a mistake", SOMEBODY)
    columns = (audit.c.verb, audit.c.object, audit.c.before, audit.c.after, audit.c.reason)
    lines = await database.read(fetch, select(*columns).order_by(audit.c.number))
    due = "due 2026-03-01 12:00 UTC"
    assert [tuple(line) for line in lines][-3:] == [
        ("grant an allowance", ada.id, None, f"ReLU: {due}", "ill"),
        ("grant an allowance", ada.id, due, "ReLU: excused", "very ill"),
        ("withdraw an allowance", ada.id, "ReLU: excused", None, "a mistake"),
    ]


async def test_an_assignment_with_work_or_an_allowance_is_not_deleted(
    store: Store, section: SectionId, database: Database
) -> None:
    ada = await make_learner(store, section, "Ada")
    lab, questions, guesses = await assign(store, section, LAB, QUESTIONS, GUESSES)
    await submit(database, ada, "a", NOON)
    await store.assignments.grant(section, questions.id, ada.id, Allowance(), SOMEBODY)

    deleted = [await store.assignments.delete(section, one, SOMEBODY) for one in (lab, questions, guesses)]

    assert deleted == [False, False, True]


async def test_the_newest_override_of_each_cell_is_read(store: Store, section: SectionId, database: Database) -> None:
    ada = await make_learner(store, section, "Ada")
    (lab,) = await assign(store, section, LAB)
    row = {"assignment": lab.id, "account": ada.id, "reason": "", "made_at": 0}
    for points in (5, None):
        await database.write(
            lambda connection, points=points: connection.execute(insert(overrides).values(row | {"points": points}))
        )

    work = await store.assignments.class_work(section, [lab])

    assert work.overrides == {(lab.id, ada.id): Override(None)}


async def test_a_learner_is_shown_what_is_published_and_open_in_each_of_their_sections(
    store: Store, section: SectionId
) -> None:
    autumn = await store.sections.make("Autumn", SOMEBODY)
    ada = await make_learner(store, section, "Ada")
    await store.sections.invite(autumn, "Ada", Role.LEARNER, SOMEBODY)
    await store.sections.accept(autumn, Actor(ada.id, NOON))
    await assign(store, section, LAB, replace(QUESTIONS, published=False), replace(GUESSES, opens_at=NOON + HOUR))
    await assign(store, autumn, QUESTIONS)

    now = await store.assignments.of_learner(ada.learner, NOON)
    later = await store.assignments.of_learner(ada.learner, NOON + HOUR, "tape")

    assert [(one.title, [each.target for each in one.assignments]) for one in now] == [
        ("Autumn", ["tape"]),
        ("Spring", ["relu-vjp"]),
    ]
    assert [[each.kind for each in one.assignments] for one in later] == [[Kind.RETRIEVAL], [Kind.PREDICTIONS]]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)  # PostgreSQL's plan depends on the rows
async def test_a_class_s_attempts_are_read_from_the_index_alone(store: Store, database: Database) -> None:
    query = text(
        "EXPLAIN QUERY PLAN SELECT id, learner, exercise, submitted_at, outcome, cases_passed, cases_total"
        " FROM submissions WHERE exercise IN ('a', 'b') AND learner IN ('x', 'y') AND kind = 'grade'"
        " AND state = 'finished'"
    )
    plan = await database.read(lambda connection: [row.detail for row in connection.execute(query)])

    assert "COVERING INDEX ix_submissions_graded" in plan[0]

"""Work done before signing in becomes the account's: nothing is lost but what a rule drops."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, insert, select

from app.course.drills.drill import ANSWERS
from app.course.questions.marking import QuestionResponse
from app.storage.audit import Actor
from app.storage.merging import CHANGE_HANDS, DERIVED, IF_FREE, ONE_OF_TWO, merge
from app.storage.records import Account, Answer, Prediction, Reading, Session, Work
from app.storage.store import Store
from app.storage.tables import learners, metadata
from graders.contract.jobs import GradeJob
from graders.contract.model import LearnerId
from graders.ledger import Database, open_ledger_on
from graders.ledger.tables import submissions

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
OLD, NEW = LearnerId("a" * 32), LearnerId("b" * 32)


def at(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def add_learner(connection: Connection, learner: LearnerId) -> None:
    connection.execute(insert(learners).values(id=learner, created_at=NOON.timestamp()))


def test_every_table_of_a_learner_has_a_rule() -> None:
    """A new table of learners' work fails here until somebody says what becomes of it when two learners are one."""
    of_learners = {table for table in metadata.sorted_tables if "learner" in table.c}

    assert {table.name for table in of_learners} == {"accounts", "sessions"} | {
        table.name for table in (*CHANGE_HANDS, *ONE_OF_TWO, *IF_FREE, *DERIVED)
    }


async def fill(store: Store, learner: LearnerId, minutes: int, *, chapter: str = "one") -> None:
    """Something in every table, with the same keys whoever the learner is."""
    when = at(minutes)
    option = f"of {learner[0]}"
    await store.commit_prediction(learner, chapter, Prediction("p", option, "guess", when))
    await store.add_answer(learner, chapter, Answer("q", QuestionResponse((option,)), False, when))
    await store.note_cell_run(learner, chapter, "cell", f"run {learner[0]} {chapter}", when)
    await store.keep_position(learner, chapter, option, when)
    await store.open_hint(learner, "double", 1, when)
    await store.save_draft(learner, "exercises/double", option, when)


async def test_work_of_both_is_joined_by_the_rules(store: Store, database: Database) -> None:
    await fill(store, NEW, 10)
    await fill(store, OLD, 5)
    await store.finish_reading(OLD, "one", at(6))
    await fill(store, OLD, 20, chapter="two")

    assert await database.write(merge, OLD, NEW) == Work(2, 0, 2)

    one, two = await store.history(NEW, "one"), await store.history(NEW, "two")
    assert one.predictions["p"].option == "of a"
    assert [answer.response.values for answer in one.answers] == [("of b",), ("of a",)]
    assert one.reading == Reading("of b", at(10), at(6))
    assert one.cell_runs == {"cell": "run b one"}
    assert two.reading == Reading("of a", at(20), None)
    assert await store.drafts(NEW, "exercises/") == {"exercises/double": "of a"}
    assert await store.hints_opened(NEW, "double") == 1
    assert {name: rows for name, rows in (await store.export(OLD)).items() if rows} == {}


async def test_what_the_account_did_first_stays(store: Store, database: Database) -> None:
    await fill(store, OLD, 10)
    await fill(store, NEW, 5)

    await database.write(merge, OLD, NEW)

    history = await store.history(NEW, "one")
    assert history.predictions["p"] == Prediction("p", "of b", "guess", at(5))
    assert history.reading == Reading("of a", at(10), None)
    assert await store.drafts(NEW, "exercises/") == {"exercises/double": "of a"}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.integers(0, 500)), max_size=12))
async def test_nothing_is_lost_but_what_a_rule_drops(
    store: Store, database: Database, acts: list[tuple[bool, int, int]]
) -> None:
    for learner in (OLD, NEW):
        await store.forget(learner)
        await database.write(add_learner, learner)
    for number, (by_old, chapter, minutes) in enumerate(acts):
        learner = OLD if by_old else NEW
        answer = Answer("q", QuestionResponse((f"{number}",)), None, at(minutes))
        await store.add_answer(learner, f"chapter-{chapter}", answer)
        await store.commit_prediction(
            learner, f"chapter-{chapter}", Prediction("p", f"{number}", "guess", at(minutes))
        )
    both = [await store.histories(learner) for learner in (OLD, NEW)]

    await database.write(merge, OLD, NEW)

    merged = await store.histories(NEW)
    assert sum(len(history.answers) for history in merged.values()) == len(acts)
    for chapter, history in merged.items():
        committed = [one[chapter].predictions["p"] for one in both if chapter in one]
        assert history.predictions["p"].committed_at == min(one.committed_at for one in committed)
        assert history.predictions["p"] in committed
    assert await store.histories(OLD) == {}


async def test_drills_are_counted_as_such_and_not_as_a_chapter(store: Store, database: Database) -> None:
    await database.write(add_learner, NEW)
    for number in range(2):
        await store.add_answer(OLD, ANSWERS, Answer("sums", QuestionResponse(draw=number), True, at(number)))

    assert await database.write(merge, OLD, NEW) == Work(0, 0, 0, drills=2)


async def test_submissions_change_hands_except_one_sent_by_both(
    store: Store, database: Database, tmp_path: Path
) -> None:
    ledger = open_ledger_on(database, tmp_path / "doorbell")
    job = GradeJob(exercise="double", source="x = 1")
    for learner in (OLD, NEW):
        await database.write(add_learner, learner)
    for learner, key in ((OLD, "only-old"), (OLD, "of-both-1"), (NEW, "of-both-1"), (NEW, "only-new")):
        await ledger.submit(learner, key, job)

    kept = await database.write(merge, OLD, NEW)

    assert kept.submissions == 1
    query = select(submissions.c.idempotency_key).where(submissions.c.learner == NEW)
    rows = await database.read(lambda connection: connection.execute(query).scalars().all())
    assert sorted(rows) == ["of-both-1", "only-new", "only-old"]
    assert await ledger.everything(OLD) == ()


async def sign_in_over(store: Store, left: Session | None) -> tuple[Account, Session]:
    account = await store.accounts.create("Ada", "hash", Actor(None, NOON))
    assert account is not None
    fresh = Session("signed in", account.learner, NOON, NOON, account, NOON, "password")
    return account, await store.sessions.begin_signed_in(fresh, left)


async def test_work_waits_until_its_person_says_that_it_is_theirs(store: Store) -> None:
    await store.sessions.keep(Session("anonymous", OLD, NOON, NOON), NOON, at(60))
    await fill(store, OLD, 1)

    account, session = await sign_in_over(store, Session("anonymous", OLD, NOON, NOON))

    assert session.unclaimed == OLD
    assert await store.histories(account.learner) == {}
    assert await store.sessions.find("anonymous", NOON) is None
    await store.forget_unreachable(NOON + timedelta(days=2))
    assert await store.accounts.claim_work(session) == Work(1, 0, 2)
    assert await store.accounts.claim_work(session) == Work(0, 0, 0)
    assert set(await store.histories(account.learner)) == {"one"}
    found = await store.sessions.find("signed in", NOON)
    assert found is not None
    assert found.unclaimed is None


async def test_work_that_its_person_does_not_claim_goes(store: Store) -> None:
    await store.sessions.keep(Session("anonymous", OLD, NOON, NOON), NOON, at(60))
    await fill(store, OLD, 1)
    account, session = await sign_in_over(store, Session("anonymous", OLD, NOON, NOON))

    await store.sessions.leave_unclaimed(session)

    assert await store.accounts.claim_work(session) == Work(0, 0, 0)
    assert await store.forget_unreachable(NOON + timedelta(days=2)) == 1
    assert await store.histories(OLD) == {}
    assert await store.histories(account.learner) == {}


async def test_a_browser_that_left_nothing_has_nothing_to_claim(store: Store) -> None:
    await store.sessions.keep(Session("anonymous", OLD, NOON, NOON), NOON, at(60))

    _, session = await sign_in_over(store, Session("anonymous", OLD, NOON, NOON))

    assert session.unclaimed is None
    assert await store.sessions.find("anonymous", NOON) is None


async def test_a_calendar_keeps_its_address_unless_the_account_has_one(store: Store, database: Database) -> None:
    for learner in (OLD, NEW):
        await store.save_draft(learner, "exercises/double", "text", NOON)
    await store.calendars.open(OLD, "hash of a", NOON)
    await database.write(merge, OLD, NEW)
    assert await store.calendars.find("hash of a") == NEW

    await store.save_draft(OLD, "exercises/double", "text", NOON)
    await store.calendars.open(OLD, "another", NOON)
    await database.write(merge, OLD, NEW)

    assert (await store.calendars.find("hash of a"), await store.calendars.find("another")) == (NEW, None)

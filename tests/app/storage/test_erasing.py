"""What is left of a section's learner once they are erased, and of a section long after its end: no name, no text."""

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Boolean, Connection, Float, Integer, MetaData, Table, insert, select

from app.access.permissions import Role
from app.learning.roster import Entry
from app.storage.audit import Actor
from app.storage.records import Account, SectionId, SectionPlan
from app.storage.store import Store
from app.storage.tables import accounts, learners, memberships, metadata, sections
from graders.contract.jobs import Diagnosed, GradeJob
from graders.ledger import Database
from graders.ledger import tables as ledger_tables

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SOMEBODY = Actor(None, NOON)
MARK = "Lovelace"
"""Stands in everything that the person wrote, or that names them."""

NO_WORDS_OF_THEIRS = {"predictions", "readings", "hints", "cell_runs", "answers"}
"""Their texts are names of places and options of the course, but for the response to a question."""
WRITTEN_FOR_OTHERS = {"threads", "posts"}
"""A question that others answered stays, without its writer; see test_threads.py."""
ANSWER = {"values": ["a"], "text": f"I am {MARK}", "node_names": []}


async def make_account(store: Store, name: str) -> Account:
    account = await store.accounts.create(name, f"hash of {name}", SOMEBODY)
    assert account is not None
    return account


async def join(store: Store, section: SectionId, account: Account, role: Role = Role.LEARNER) -> None:
    assert await store.sections.invite(section, account.name, role, SOMEBODY)
    assert await store.sections.accept(section, Actor(account.id, NOON))


def is_about_a_person(table: Table) -> bool:
    return bool({"learner", "account"} & set(table.c.keys()))


def fill(connection: Connection, person: Account, section: SectionId) -> None:
    """A row in every table that can have one about the person, with the mark in each text."""
    known: dict[str, Any] = {"learners.id": person.learner, "accounts.id": person.id, "sections.id": section}
    there = {table.name for table in (learners, accounts, sections, memberships)}
    for table in metadata.sorted_tables:
        if table.name in there or table.name == "audit":
            continue
        row = {column.name: make_value(table, column, known) for column in table.c}
        connection.execute(insert(table).values(row))
        known |= {f"{table.name}.{name}": value for name, value in row.items()}


def make_value(table: Table, column: Any, known: dict[str, Any]) -> Any:
    for key in column.foreign_keys:
        return known[f"{key.column.table.name}.{key.column.name}"]
    if column.name == "assignment":
        return known["assignments.id"]
    if table.name == "answers" and column.name == "response":
        return json.dumps(ANSWER)
    if isinstance(column.type, Boolean):
        return False
    if isinstance(column.type, Integer | Float):
        return 1000 if column is table.autoincrement_column else 1  # far from the numbers that the database gives
    marked = is_about_a_person(table) and table.name not in NO_WORDS_OF_THEIRS | WRITTEN_FOR_OTHERS

    return (MARK if marked else "x")[: column.type.length]


def submit(connection: Connection, person: Account) -> None:
    job = GradeJob(exercise="relu", source=f"# {MARK}", diagnosed=Diagnosed(category=MARK))
    row = {
        "id": f"of {MARK}",
        "learner": person.learner,
        "idempotency_key": "key",
        "kind": "grade",
        "exercise": "relu",
    }
    row |= {"queue": "cpu", "job": job.model_dump_json(), "state": "finished", "result": f'"{MARK}"'}
    numbers = {"priority": 1, "claim_number": 1, "lost_workers": 0, "last_seq": 3, "submitted_at": 5.0}
    outcome = {"outcome": "passed", "cases_passed": 4, "cases_total": 4, "credit": 1.0, "finished_at": 6.0}
    connection.execute(insert(ledger_tables.submissions).values({**row, **numbers, **outcome}))
    event = {"submission": f"of {MARK}", "seq": 1, "kind": "output", "body": MARK, "at": 5.5}
    connection.execute(insert(ledger_tables.events).values(event))


async def read_all(database: Database) -> dict[str, str]:
    """Every row of every table, as text."""
    every: tuple[MetaData, ...] = (metadata, ledger_tables.metadata)
    tables = [table for each in every for table in each.tables.values()]
    return await database.read(
        lambda connection: {table.name: str(connection.execute(select(table)).all()) for table in tables}
    )


async def test_an_erased_learner_leaves_outcomes_under_a_learner_whom_nothing_leads_to(
    store: Store, database: Database
) -> None:
    section = await store.sections.make("Spring", SOMEBODY)
    ada = await make_account(store, f"Ada {MARK}")
    await join(store, section, ada)
    await database.write(fill, ada, section)
    await database.write(submit, ada)
    before = await read_all(database)
    marked = {name for name, rows in before.items() if MARK in rows}
    assert {"accounts", "answers", "comments", "drafts", "events", "notes", "roster", "submissions"} <= marked

    assert await store.accounts.erase(ada.id, SOMEBODY)

    after = await read_all(database)
    assert [name for name, rows in after.items() if MARK in rows] == []
    assert [name for name, rows in after.items() if ada.learner in rows] == []
    assert [name for name, rows in after.items() if ada.id in rows] == ["audit"]
    (row,) = await database.read(lambda connection: connection.execute(select(learners)).all())
    assert row.is_nameless
    assert {name for name, rows in after.items() if row.id in rows} == {
        *NO_WORDS_OF_THEIRS,
        "learners",
        "submissions",
    }
    (kept,) = await database.read(lambda connection: connection.execute(select(ledger_tables.submissions)).all())
    outcome = (kept.outcome, kept.cases_passed, kept.cases_total, kept.credit, kept.submitted_at, kept.finished_at)
    assert outcome == ("passed", 4, 4, 1.0, 5.0, 6.0)
    assert GradeJob.model_validate_json(kept.job) == GradeJob(exercise="relu", source="")


async def test_the_outcomes_stay_when_unreachable_learners_are_swept(store: Store, database: Database) -> None:
    section = await store.sections.make("Spring", SOMEBODY)
    ada = await make_account(store, "Ada")
    await join(store, section, ada)
    await store.keep_position(ada.learner, "one", "middle", NOON)
    await store.accounts.erase(ada.id, SOMEBODY)

    await store.forget_unreachable(NOON + timedelta(days=900))

    rows = await database.read(lambda connection: connection.execute(select(learners.c.is_nameless)).all())
    assert [row.is_nameless for row in rows] == [True]


@pytest.mark.parametrize("accepted", [True, False])
async def test_only_who_was_a_learner_of_a_section_leaves_outcomes(
    store: Store, database: Database, accepted: bool
) -> None:
    section = await store.sections.make("Spring", SOMEBODY)
    ada = await make_account(store, "Ada")
    await store.sections.invite(section, "Ada", Role.LEARNER, SOMEBODY)
    if accepted:
        await store.sections.accept(section, Actor(ada.id, NOON))
        await store.sections.leave(section, Actor(ada.id, NOON))

    await store.accounts.erase(ada.id, SOMEBODY)

    rows = await database.read(lambda connection: connection.execute(select(learners)).all())
    assert len(rows) == accepted


async def make_class(store: Store, title: str, ends_on: date | None, *people: Account) -> SectionId:
    teacher = await make_account(store, f"Teacher of {title}")
    plan = SectionPlan(title, ends_on=ends_on)
    section = await store.sections.make_own(plan, Actor(teacher.id, NOON))
    for person in people:
        await join(store, section, person)
    await store.rosters.apply(section, [Entry(MARK, student_number="1")], SOMEBODY, drop_missing=False)
    return section


async def names_in(store: Store, section: SectionId) -> list[str]:
    return [one.name for one in await store.sections.people(section)]


async def test_a_section_is_emptied_months_after_its_end_and_its_open_accounts_stay(store: Store) -> None:
    ada, bob, cyd = [await make_account(store, name) for name in ("Ada", "Bob", "Cyd")]
    over = await make_class(store, "Over", date(2026, 1, 31), ada, bob, cyd)
    await make_class(store, "Going", date(2026, 12, 31), bob)
    for account in (bob, cyd):
        await store.accounts.close(account.id, SOMEBODY)
    early, late = datetime(2026, 4, 27, tzinfo=UTC), datetime(2026, 4, 29, tzinfo=UTC)

    assert await store.empty_ended_sections(early, 3) == 0
    assert len(await names_in(store, over)) == 4
    assert await store.empty_ended_sections(late, 3) == 1
    assert await store.empty_ended_sections(late, 3) == 0

    assert await names_in(store, over) == ["Teacher of Over"]
    assert await store.rosters.lines(over) == ()
    found = await store.sections.find(over)
    assert found is not None
    assert found.archived_at == late
    assert {line.account.name for line in await store.accounts.everyone()} >= {"Ada", "Bob"}
    assert "Cyd" not in {line.account.name for line in await store.accounts.everyone()}
    assert await store.accounts.find(ada.id) == ada


OWN = {
    "accounts": "open",
    "credentials": "how they sign in",
    "identities": "how they sign in",
    "sessions": "how they are signed in",
    "one_time_links": "for their password",
    "sign_in_attempts": "of theirs",
    "lti_logins": "of theirs",
    "lti_tickets": "of theirs",
    "reports": "who closed it",
    "regrades": "who began it",
    "viewings": "for half an hour",
    "audit": "until its lines are old",
}
"""Tables that may name an open account after its section was emptied, beside those of the learner's own work."""


async def test_an_emptied_section_keeps_nothing_about_an_account_that_is_still_open(
    store: Store, database: Database
) -> None:
    ada = await make_account(store, "Ada")
    section = await make_class(store, "Over", date(2026, 1, 31), ada)
    await database.write(fill, ada, section)
    before = await read_all(database)
    about = {
        "allowances",
        "comments",
        "lti_members",
        "lti_scores",
        "memberships",
        "overrides",
        "regrade_items",
        "roster",
    }
    assert about <= {name for name, rows in before.items() if ada.id in rows or ada.learner in rows}

    await store.empty_ended_sections(datetime(2026, 6, 1, tzinfo=UTC), 3)

    after = await read_all(database)
    named = {name for name, rows in after.items() if ada.id in rows}
    assert named - set(OWN) == set()
    assert [name for name in about if ada.learner in after[name]] == []
    assert ada.learner in after["drafts"]


async def test_a_section_without_a_last_day_ends_when_it_is_archived(store: Store) -> None:
    ada = await make_account(store, "Ada")
    section = await make_class(store, "Spring", None, ada)
    much_later = NOON + timedelta(days=1000)

    assert await store.empty_ended_sections(much_later, 1) == 0
    await store.sections.archive(section, SOMEBODY)
    assert await store.empty_ended_sections(NOON + timedelta(days=26), 1) == 0
    assert await store.empty_ended_sections(much_later, 1) == 1
    assert await names_in(store, section) == ["Teacher of Spring"]

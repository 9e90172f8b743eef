"""Accounts: one name, one person; links work once; a closed account lets nobody in; an erased one leaves nothing."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from app.access.permissions import Role
from app.storage.audit import Actor
from app.storage.exporting import LEFT_OUT
from app.storage.records import Account, Session
from app.storage.store import Store
from app.storage.tables import metadata
from graders.ledger import Database

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)
SOMEBODY = Actor(None, NOON)


async def make_account(store: Store, name: str, *, is_operator: bool = False) -> Account:
    account = await store.accounts.create(name, f"hash of {name}", SOMEBODY, is_operator=is_operator)
    assert account is not None
    return account


def session_of(account: Account, token_hash: str = "hash", now: datetime = NOON) -> Session:
    return Session(token_hash, account.learner, now, now, account, now, "password")


async def test_a_name_is_taken_once_however_it_is_written(store: Store) -> None:
    ada = await make_account(store, "Ada")

    assert await store.accounts.create("ADA", "other", SOMEBODY) is None
    known = await store.accounts.find_password("aDA")
    assert known is not None
    assert (known.account, known.secret) == (ada, "hash of Ada")


async def test_a_session_knows_its_account_and_whether_it_is_staff(store: Store) -> None:
    ada, eve = await make_account(store, "Ada"), await make_account(store, "Eve", is_operator=True)
    await store.sessions.begin_signed_in(session_of(ada, "a"), None)
    await store.sessions.begin_signed_in(session_of(eve, "e"), None)

    mine, theirs = await store.sessions.find("a", NOON), await store.sessions.find("e", NOON)

    assert mine == session_of(ada, "a")
    assert theirs == replace(session_of(eve, "e"), is_staff=True)


async def test_an_instructor_s_session_ends_sooner(store: Store) -> None:
    ada = await make_account(store, "Ada")
    section = await store.sections.make("Spring", SOMEBODY)
    await store.sections.invite(section, "ada", Role.INSTRUCTOR, SOMEBODY)
    await store.sessions.begin_signed_in(session_of(ada), None)
    invited = await store.sessions.find("hash", NOON)

    await store.sections.accept(section, Actor(ada.id, NOON))
    accepted = await store.sessions.find("hash", NOON)

    assert invited is not None
    assert accepted is not None
    assert (invited.is_staff, accepted.is_staff) == (False, True)
    assert accepted.limits.idle < invited.limits.idle


async def test_signing_in_ends_the_former_session_of_the_browser(store: Store) -> None:
    ada, bob = await make_account(store, "Ada"), await make_account(store, "Bob")
    first = await store.sessions.begin_signed_in(session_of(ada, "a"), None)

    await store.sessions.begin_signed_in(session_of(bob, "b"), first)

    assert await store.sessions.find("a", NOON) is None


async def test_a_link_sets_one_password_once_and_ends_every_session(store: Store) -> None:
    ada = await make_account(store, "Ada")
    await store.sessions.begin_signed_in(session_of(ada), None)
    await store.accounts.make_link(ada.id, "link", LATER, SOMEBODY)

    assert await store.accounts.find_link("link", NOON) == ada
    assert await store.accounts.use_link("link", "new hash", SOMEBODY) == ada
    assert await store.accounts.use_link("link", "third hash", SOMEBODY) is None

    known = await store.accounts.find_password("Ada")
    assert known is not None
    assert known.secret == "new hash"
    assert await store.sessions.find("hash", NOON) is None


async def test_a_link_works_for_a_while_and_a_newer_one_replaces_it(store: Store) -> None:
    ada = await make_account(store, "Ada")
    await store.accounts.make_link(ada.id, "first", LATER, SOMEBODY)
    await store.accounts.make_link(ada.id, "second", LATER, SOMEBODY)

    assert await store.accounts.find_link("first", NOON) is None
    assert await store.accounts.find_link("second", LATER) is None
    assert await store.accounts.use_link("second", "hash", Actor(None, LATER)) is None


async def test_failures_are_counted_by_key_and_forgotten_after_a_day(store: Store) -> None:
    await store.accounts.note_failure(["name", "address"], NOON)
    await store.accounts.note_failure(["other", "address"], LATER)

    assert await store.accounts.count_failures(["name", "address"], NOON - timedelta(1)) == {"name": 1, "address": 2}
    assert await store.accounts.count_failures(["name", "address"], NOON) == {"address": 1}
    await store.forget_unreachable(NOON + timedelta(days=1))
    assert await store.accounts.count_failures(["name", "address"], NOON - timedelta(1)) == {"address": 1}


async def test_a_line_of_the_audit_is_kept_until_it_is_old(store: Store) -> None:
    ada, bob = await make_account(store, "Ada"), await make_account(store, "Bob")
    await store.accounts.close(ada.id, Actor(bob.id, NOON))
    await store.accounts.erase(ada.id, Actor(bob.id, LATER))
    before = [line.at for line in await store.accounts.audit_lines()]

    assert await store.end_audit(NOON) == 0
    assert await store.end_audit(LATER) == 1

    assert before == [LATER, NOON]
    assert [line.at for line in await store.accounts.audit_lines()] == [LATER]


async def test_an_account_keeps_its_work_when_all_its_sessions_have_ended(store: Store) -> None:
    ada = await make_account(store, "Ada")
    await store.keep_position(ada.learner, "one", "middle", NOON)

    assert await store.forget_unreachable(NOON + timedelta(days=1000)) == 0
    assert "one" in await store.readings(ada.learner)


async def test_a_closed_account_lets_nobody_in_and_keeps_its_work(store: Store) -> None:
    ada = await make_account(store, "Ada")
    await store.sessions.begin_signed_in(session_of(ada), None)
    await store.accounts.make_link(ada.id, "link", LATER, SOMEBODY)
    await store.keep_position(ada.learner, "one", "middle", NOON)
    await store.calendars.open(ada.learner, "address", NOON)

    await store.accounts.close(ada.id, SOMEBODY)

    assert await store.calendars.find("address") is None
    assert await store.sessions.find("hash", NOON) is None
    assert await store.accounts.find_password("Ada") is None
    assert await store.accounts.find_link("link", NOON) is None
    assert not await store.accounts.make_link(ada.id, "another", LATER, SOMEBODY)
    assert "one" in await store.readings(ada.learner)


async def test_a_sign_in_under_way_while_the_account_is_closed_gets_nowhere(store: Store) -> None:
    ada = await make_account(store, "Ada")
    await store.accounts.close(ada.id, SOMEBODY)

    await store.sessions.begin_signed_in(session_of(ada), None)

    assert await store.sessions.find("hash", NOON) is None


async def test_a_link_made_for_a_learner_does_not_open_the_operator_they_became(store: Store) -> None:
    ada = await make_account(store, "Ada")
    await store.accounts.make_link(ada.id, "link", LATER, SOMEBODY)

    await store.accounts.set_operator(ada.id, True, SOMEBODY)

    assert await store.accounts.use_link("link", "hash", SOMEBODY) is None


async def fill_every_table(store: Store, account: Account) -> None:
    learner = account.learner
    section = await store.sections.make("Spring", SOMEBODY)
    await store.sections.invite(section, account.name, Role.LEARNER, Actor(account.id, NOON))
    await store.sessions.begin_signed_in(session_of(account, f"hash {account.name}"), None)
    await store.accounts.make_link(account.id, f"link {account.name}", LATER, Actor(account.id, NOON))
    await store.keep_position(learner, "one", "middle", NOON)


async def test_an_export_shows_the_account_and_nothing_that_lets_others_in(store: Store) -> None:
    ada = await make_account(store, "Ada")
    await fill_every_table(store, ada)

    exported = await store.export(ada.learner)

    assert set(exported) == set(metadata.tables) - set(LEFT_OUT)
    assert exported["accounts"][0]["name"] == "Ada"
    assert [row["role"] for row in exported["memberships"]] == ["learner"]
    assert {row["verb"] for row in exported["audit"]} == {"offer or change a role", "make a one-time link"}
    assert exported["audit"][0]["at"] == NOON.isoformat()
    assert "hash" not in str(exported).replace("content_hash", "")


async def test_an_erased_account_leaves_its_name_in_no_table(store: Store, database: Database) -> None:
    ada, bob = await make_account(store, "Ada Lovelace"), await make_account(store, "Bob")
    for account in (ada, bob):
        await fill_every_table(store, account)

    assert await store.accounts.erase(ada.id, Actor(bob.id, NOON))
    assert not await store.accounts.erase(ada.id, Actor(bob.id, NOON))

    tables = metadata.tables.values()
    kept = await database.read(
        lambda connection: {table.name: str(connection.execute(select(table)).all()) for table in tables}
    )
    assert [name for name, rows in kept.items() if ada.learner in rows] == []
    assert [name for name, rows in kept.items() if "Lovelace" in rows] == []
    assert [name for name, rows in kept.items() if ada.id in rows] == ["audit"]
    assert await store.accounts.find(bob.id) == bob
    assert (await store.accounts.audit_lines())[0].object == ada.id


@pytest.mark.parametrize("is_operator", [True, False])
async def test_whoever_gains_or_loses_the_site_signs_in_again(store: Store, is_operator: bool) -> None:
    ada = await make_account(store, "Ada", is_operator=not is_operator)
    await store.sessions.begin_signed_in(session_of(ada), None)

    await store.accounts.set_operator(ada.id, is_operator, SOMEBODY)

    assert await store.sessions.find("hash", NOON) is None
    found = await store.accounts.find(ada.id)
    assert found is not None
    assert found.is_operator is is_operator

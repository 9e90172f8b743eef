"""Sections: a role gives rights once it is accepted, and nobody gains rights over an account by adding it."""

from datetime import UTC, datetime

from app.access.permissions import Role
from app.storage.accounts import LINK_LASTS
from app.storage.audit import Actor
from app.storage.records import Account, SectionId, Session
from app.storage.store import Store

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SOMEBODY = Actor(None, NOON)


async def make_account(store: Store, name: str, *, is_operator: bool = False) -> Account:
    account = await store.accounts.create(name, "hash", SOMEBODY, is_operator=is_operator)
    assert account is not None
    return account


async def join(store: Store, section: SectionId, account: Account, role: Role) -> None:
    assert await store.sections.invite(section, account.name, role, SOMEBODY)
    assert await store.sections.accept(section, Actor(account.id, NOON))


async def test_an_offer_gives_no_right_until_it_is_accepted(store: Store) -> None:
    ada = await make_account(store, "Ada")
    section = await store.sections.make("Spring", SOMEBODY)

    await store.sections.invite(section, "ADA", Role.ASSISTANT, SOMEBODY)
    assert await store.sections.find_role(section, ada.id) is None
    assert not await store.sections.may_reset(section, ada.id)

    assert await store.sections.accept(section, Actor(ada.id, NOON))
    assert not await store.sections.accept(section, Actor(ada.id, NOON))
    mine = await store.sections.find_role(section, ada.id)
    assert mine is not None
    assert mine.role is Role.ASSISTANT


async def test_a_name_that_nobody_has_is_invited_to_nothing(store: Store) -> None:
    section = await store.sections.make("Spring", SOMEBODY)

    assert not await store.sections.invite(section, "Nobody", Role.LEARNER, SOMEBODY)
    assert await store.sections.people(section) == ()


async def test_a_role_in_one_section_is_none_in_another(store: Store) -> None:
    ada = await make_account(store, "Ada")
    spring, autumn = await store.sections.make("Spring", SOMEBODY), await store.sections.make("Autumn", SOMEBODY)
    await join(store, spring, ada, Role.INSTRUCTOR)

    assert await store.sections.find_role(autumn, ada.id) is None
    assert await store.sections.people(autumn) == ()


async def test_a_member_whose_role_rises_signs_in_again(store: Store) -> None:
    ada = await make_account(store, "Ada")
    section = await store.sections.make("Spring", SOMEBODY)
    await join(store, section, ada, Role.LEARNER)
    await store.sessions.begin_signed_in(Session("hash", ada.learner, NOON, NOON, ada, NOON, "password"), None)

    await store.sections.invite(section, "Ada", Role.LEARNER, SOMEBODY)
    assert await store.sessions.find("hash", NOON) is not None
    await store.sections.invite(section, "Ada", Role.ASSISTANT, SOMEBODY)
    assert await store.sessions.find("hash", NOON) is None


async def test_staff_may_reset_a_learner_s_password_and_no_other_staff_s(store: Store) -> None:
    here, elsewhere = await store.sections.make("Spring", SOMEBODY), await store.sections.make("Autumn", SOMEBODY)
    learner, assistant = await make_account(store, "Ada"), await make_account(store, "Bob")
    operator = await make_account(store, "Eve", is_operator=True)
    for account in (learner, assistant, operator):
        await join(store, here, account, Role.LEARNER)
    await join(store, elsewhere, assistant, Role.ASSISTANT)

    may_reset = [await store.sections.may_reset(here, account.id) for account in (learner, assistant, operator)]

    assert may_reset == [True, False, False]
    assert not await store.sections.may_reset(elsewhere, learner.id)


async def test_a_link_made_for_a_learner_does_not_open_the_staff_they_became(store: Store) -> None:
    ada = await make_account(store, "Ada")
    here, elsewhere = await store.sections.make("Spring", SOMEBODY), await store.sections.make("Autumn", SOMEBODY)
    await join(store, here, ada, Role.LEARNER)
    await store.accounts.make_link(ada.id, "link", NOON + LINK_LASTS, SOMEBODY)

    await join(store, elsewhere, ada, Role.INSTRUCTOR)

    assert await store.accounts.find_link("link", NOON) is None


async def test_an_assistant_made_a_learner_cannot_be_reset_before_they_agree(store: Store) -> None:
    ada = await make_account(store, "Ada")
    section = await store.sections.make("Spring", SOMEBODY)
    await join(store, section, ada, Role.ASSISTANT)

    await store.sections.invite(section, "Ada", Role.LEARNER, SOMEBODY)

    assert not await store.sections.may_reset(section, ada.id)
    assert await store.sections.find_role(section, ada.id) is None
    assert await store.sections.accept(section, Actor(ada.id, NOON))
    assert await store.sections.may_reset(section, ada.id)


async def test_who_left_has_no_role(store: Store) -> None:
    ada = await make_account(store, "Ada")
    section = await store.sections.make("Spring", SOMEBODY)
    await join(store, section, ada, Role.LEARNER)

    assert await store.sections.leave(section, ada.id, SOMEBODY)
    assert not await store.sections.leave(section, ada.id, SOMEBODY)
    assert await store.sections.of_account(ada.id) == ()

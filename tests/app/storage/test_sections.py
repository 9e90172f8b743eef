"""Sections: a role gives rights once it is accepted, and nobody gains rights over an account by adding it."""

from datetime import UTC, date, datetime

from app.access.permissions import Role
from app.storage.accounts import LINK_LASTS
from app.storage.audit import Actor
from app.storage.memberships import Joining
from app.storage.records import Account, Section, SectionId, SectionPlan, Session, Status
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


async def find_status(store: Store, section: SectionId, account: Account) -> Status | None:
    found = await store.sections.find_membership(section, account.id)
    return found.status if found else None


async def test_who_left_has_no_role_and_comes_back_only_by_their_own_yes(store: Store) -> None:
    ada = await make_account(store, "Ada")
    themselves = Actor(ada.id, NOON)
    section = await store.sections.make("Spring", SOMEBODY)
    await join(store, section, ada, Role.LEARNER)

    assert await store.sections.leave(section, themselves)
    assert not await store.sections.leave(section, themselves)
    assert await store.sections.find_role(section, ada.id) is None
    assert not await store.sections.may_reset(section, ada.id)

    assert await store.sections.take_back(section, ada.id, SOMEBODY) is Status.INVITED
    assert not await store.sections.may_reset(section, ada.id)
    assert await store.sections.accept(section, themselves)
    assert await find_status(store, section, ada) is Status.ACTIVE


async def test_whom_the_staff_dropped_they_take_back(store: Store) -> None:
    ada = await make_account(store, "Ada")
    section = await store.sections.make("Spring", SOMEBODY)
    await join(store, section, ada, Role.LEARNER)

    assert await store.sections.drop(section, ada.id, SOMEBODY)
    assert not await store.sections.drop(section, ada.id, SOMEBODY)
    assert await store.sections.find_role(section, ada.id) is None
    assert await find_status(store, section, ada) is Status.DROPPED

    assert await store.sections.take_back(section, ada.id, SOMEBODY) is Status.ACTIVE
    assert await store.sections.take_back(section, ada.id, SOMEBODY) is None


async def test_a_link_made_while_an_assistant_was_out_does_not_open_the_staff_they_are_again(store: Store) -> None:
    ada = await make_account(store, "Ada")
    here, elsewhere = await store.sections.make("Spring", SOMEBODY), await store.sections.make("Autumn", SOMEBODY)
    await join(store, here, ada, Role.ASSISTANT)
    await join(store, elsewhere, ada, Role.LEARNER)
    await store.sections.drop(here, ada.id, SOMEBODY)
    assert await store.sections.may_reset(elsewhere, ada.id)
    await store.accounts.make_link(ada.id, "link", NOON + LINK_LASTS, SOMEBODY)

    assert await store.sections.take_back(here, ada.id, SOMEBODY) is Status.ACTIVE

    assert await store.accounts.find_link("link", NOON) is None


async def test_an_offer_that_is_taken_back_leaves_no_membership(store: Store) -> None:
    ada = await make_account(store, "Ada")
    section = await store.sections.make("Spring", SOMEBODY)
    await store.sections.invite(section, "Ada", Role.LEARNER, SOMEBODY)

    assert await store.sections.drop(section, ada.id, SOMEBODY)

    assert await store.sections.of_account(ada.id) == ()


async def test_a_code_makes_learners_of_those_whom_the_staff_did_not_take_out(store: Store) -> None:
    names = ("Ada", "Bob", "Cyd", "Dan")
    new, dropped, left, invited = [await make_account(store, name) for name in names]
    section = await store.sections.make("Spring", SOMEBODY)
    await store.sections.set_code(section, "ABCD2345", SOMEBODY)
    for account in (dropped, left):
        await join(store, section, account, Role.LEARNER)
    await store.sections.drop(section, dropped.id, SOMEBODY)
    await store.sections.leave(section, Actor(left.id, NOON))
    await store.sections.invite(section, invited.name, Role.ASSISTANT, SOMEBODY)

    everybody = (new, dropped, left, invited, new)
    joined = [await store.sections.join_by_code("ABCD2345", Actor(one.id, NOON)) for one in everybody]

    assert [one.outcome if one else None for one in joined] == [
        Joining.JOINED,
        Joining.WAS_DROPPED,
        Joining.JOINED,
        Joining.HAS_OFFER,
        Joining.IS_MEMBER,
    ]
    assert {one.name for one in await store.sections.people(section) if one.is_active} == {"Ada", "Cyd"}


async def test_a_code_that_was_renewed_or_closed_opens_nothing(store: Store) -> None:
    ada = await make_account(store, "Ada")
    section = await store.sections.make("Spring", SOMEBODY)

    for code in ("ABCD2345", "EFGH2345", None):
        await store.sections.set_code(section, code, SOMEBODY)

    assert await store.sections.join_by_code("ABCD2345", Actor(ada.id, NOON)) is None
    assert await store.sections.join_by_code("EFGH2345", Actor(ada.id, NOON)) is None


async def test_nobody_joins_or_leaves_an_archived_section(store: Store) -> None:
    ada, bob, cyd = [await make_account(store, name) for name in ("Ada", "Bob", "Cyd")]
    section = await store.sections.make("Spring", SOMEBODY)
    await store.sections.set_code(section, "ABCD2345", SOMEBODY)
    await join(store, section, ada, Role.LEARNER)
    await store.sections.invite(section, "Bob", Role.LEARNER, SOMEBODY)
    await store.sections.archive(section, SOMEBODY)

    assert not await store.sections.leave(section, Actor(ada.id, NOON))
    assert not await store.sections.accept(section, Actor(bob.id, NOON))
    assert await store.sections.join_by_code("ABCD2345", Actor(cyd.id, NOON)) is None

    await store.sections.reopen(section, SOMEBODY)
    assert await store.sections.accept(section, Actor(bob.id, NOON))


async def test_what_an_instructor_changes_is_kept_and_audited_once(store: Store) -> None:
    ada = await make_account(store, "Ada")
    section = await store.sections.make_own(SectionPlan("Spring"), Actor(ada.id, NOON))
    plan = SectionPlan("Spring", "Europe/Berlin", date(2027, 2, 1), date(2027, 6, 30), 15, 20, True)

    for _ in range(2):
        await store.sections.change(section, plan, Actor(ada.id, NOON))

    found = await store.sections.find(section)
    assert found == Section(section, plan)
    lines = [line for line in await store.accounts.audit_lines() if line.verb == "change a section"]
    assert [(line.before.split(", ")[0], line.after.split(", ")[0]) for line in lines] == [
        ("zone: UTC", "zone: Europe/Berlin")
    ]

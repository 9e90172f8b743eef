"""Questions about the course: who may read and write them, what is unread, and what is left of an erased person."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from app.access.permissions import Role
from app.storage.audit import Actor
from app.storage.records import Account, SectionId
from app.storage.store import Store
from app.storage.tables import DROPPED, memberships, sections
from app.storage.thread_queries import Audience, ThreadFilter, ThreadState, Unread
from app.storage.threads import MAX_OPEN_OF_ONE, NewPost, NewThread
from graders.ledger.database import Database

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SOMEBODY = Actor(None, NOON)
ALL = ThreadFilter()


async def make_account(store: Store, name: str) -> Account:
    account = await store.accounts.create(name, None, SOMEBODY)
    assert account is not None
    return account


async def join(store: Store, section: SectionId, account: Account, role: Role) -> None:
    assert await store.sections.invite(section, account.name, role, SOMEBODY)
    assert await store.sections.accept(section, Actor(account.id, NOON))


class Class:
    """A section with Ada, who teaches, and the learners Bob and Cyd; Dan is in another one."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def fill(self) -> "Class":
        self.ada, self.bob, self.cyd, self.dan = [
            await make_account(self.store, name) for name in ("Ada", "Bob", "Cyd", "Dan")
        ]
        self.section = await self.store.sections.make("Spring", SOMEBODY)
        self.other = await self.store.sections.make("Autumn", SOMEBODY)
        await join(self.store, self.section, self.ada, Role.INSTRUCTOR)
        for account in (self.bob, self.cyd):
            await join(self.store, self.section, account, Role.LEARNER)
        await join(self.store, self.other, self.dan, Role.INSTRUCTOR)
        return self

    async def ask(self, account: Account, text: str = "Why?", audience: Audience = Audience.SECTION) -> int | None:
        thread = NewThread(self.section, "chapters/one", "block", "0" * 16, "1", audience)
        return await self.store.threads.ask(thread, NewPost(account.id, text, False, NOON))

    async def reply(self, account: Account, number: int, text: str = "So.") -> int | None:
        return await self.store.threads.reply(self.section, number, NewPost(account.id, text, False, NOON))

    async def numbers(self, account: Account, wanted: ThreadFilter = ALL) -> list[int]:
        return [thread.number for thread in await self.store.threads.list(account.id, wanted, 100)]


@pytest.fixture
async def spring(store: Store) -> Class:
    return await Class(store).fill()


async def test_a_question_to_the_staff_is_seen_by_them_and_by_its_asker_alone(spring: Class) -> None:
    number = await spring.ask(spring.bob, audience=Audience.STAFF)
    assert number is not None

    everybody = (spring.ada, spring.bob, spring.cyd, spring.dan)
    seen = {account.name: await spring.numbers(account) for account in everybody}

    assert seen == {"Ada": [number], "Bob": [number], "Cyd": [], "Dan": []}
    assert await spring.store.threads.find(spring.section, number, spring.cyd.id) is None
    assert await spring.reply(spring.cyd, number) is None
    assert await spring.reply(spring.dan, number) is None


async def test_a_question_to_the_section_is_seen_in_it_and_not_in_another(spring: Class) -> None:
    number = await spring.ask(spring.bob)

    assert await spring.numbers(spring.cyd) == [number]
    assert await spring.numbers(spring.dan) == []
    assert await spring.store.threads.find(spring.other, number or 0, spring.dan.id) is None


async def test_somebody_who_was_dropped_reads_and_writes_nothing_more(spring: Class, database: Database) -> None:
    number = await spring.ask(spring.bob)
    assert number is not None
    statement = update(memberships).where(memberships.c.account == spring.bob.id).values(status=DROPPED)
    await database.write(lambda connection: connection.execute(statement).rowcount)

    assert await spring.numbers(spring.bob) == []
    assert await spring.store.threads.unread(spring.bob.id) == Unread()
    assert await spring.reply(spring.bob, number) is None
    assert await spring.ask(spring.bob, "Again?") is None
    assert not await spring.store.threads.edit(spring.section, number, 1, "x", Actor(spring.bob.id, NOON))
    assert await spring.numbers(spring.ada) == [number]


async def test_nothing_is_written_in_an_archived_section(spring: Class, database: Database) -> None:
    number = await spring.ask(spring.bob)
    assert number is not None
    statement = update(sections).where(sections.c.id == spring.section).values(archived_at=NOON.timestamp())
    await database.write(lambda connection: connection.execute(statement).rowcount)

    assert await spring.numbers(spring.bob) == [number]
    assert await spring.store.threads.open_sections(spring.bob.id) == ()
    assert await spring.ask(spring.bob, "Again?") is None
    assert await spring.reply(spring.ada, number) is None
    resolve = spring.store.threads.resolve
    assert not await resolve(spring.section, number, resolved=True, actor=Actor(spring.bob.id, NOON))


async def test_a_form_that_is_sent_twice_is_stored_once(spring: Class) -> None:
    number = await spring.ask(spring.bob)
    assert await spring.ask(spring.bob) == number
    assert number is not None

    assert await spring.reply(spring.ada, number) == await spring.reply(spring.ada, number)
    assert len(await spring.store.threads.posts(number)) == 2


async def test_one_person_cannot_bury_the_others(spring: Class) -> None:
    for count in range(MAX_OPEN_OF_ONE):
        assert await spring.ask(spring.bob, f"Question {count}")

    assert await spring.ask(spring.bob, "One more") is None
    assert await spring.ask(spring.cyd) is not None
    actor = Actor(spring.bob.id, NOON)
    assert await spring.store.threads.resolve(spring.section, 1, resolved=True, actor=actor)
    assert await spring.ask(spring.bob, "One more") is not None


async def test_a_question_is_unread_for_staff_and_an_answer_for_the_person_who_asked(spring: Class) -> None:
    number = await spring.ask(spring.bob)
    assert number is not None

    assert [await spring.store.threads.unread(one.id) for one in (spring.ada, spring.bob, spring.cyd)] == [
        Unread(True, 1), Unread(True, 0), Unread(True, 0),
    ]  # fmt: skip
    await spring.reply(spring.ada, number)
    assert (await spring.store.threads.unread(spring.ada.id)).threads == 1
    await spring.store.threads.keep_read(number, spring.ada.id, 1)
    assert (await spring.store.threads.unread(spring.ada.id)).threads == 0
    assert (await spring.store.threads.unread(spring.bob.id)).threads == 1
    await spring.store.threads.keep_read(number, spring.bob.id, 2)
    await spring.store.threads.keep_read(number, spring.bob.id, 1)
    assert (await spring.store.threads.unread(spring.bob.id)).threads == 0


async def test_staff_may_call_everything_read_in_their_own_section_alone(spring: Class) -> None:
    await spring.ask(spring.bob)
    await spring.ask(spring.cyd, "And this?")

    await spring.store.threads.read_all(spring.other, spring.ada.id)
    assert (await spring.store.threads.unread(spring.ada.id)).threads == 2
    await spring.store.threads.read_all(spring.section, spring.ada.id)
    assert (await spring.store.threads.unread(spring.ada.id)).threads == 0


async def test_an_answer_by_staff_or_an_endorsed_one_answers(spring: Class) -> None:
    unanswered = ThreadFilter(spring.section, state=ThreadState.UNANSWERED)
    first, second = await spring.ask(spring.bob), await spring.ask(spring.bob, "And this?")
    assert first is not None
    assert second is not None
    peer = await spring.reply(spring.cyd, first)
    assert peer is not None
    assert await spring.numbers(spring.ada, unanswered) == [second, first]

    assert await spring.store.threads.endorse(
        spring.section, first, peer, endorsed=True, actor=Actor(spring.ada.id, NOON)
    )
    await spring.reply(spring.ada, second)

    assert await spring.numbers(spring.ada, unanswered) == []
    # An endorsement is of the words that were endorsed.
    await spring.store.threads.edit(spring.section, first, peer, "Something else.", Actor(spring.cyd.id, NOON))
    assert await spring.numbers(spring.ada, unanswered) == [first]


async def test_a_hidden_question_is_gone_for_peers_and_its_reason_is_audited(spring: Class) -> None:
    number = await spring.ask(spring.bob)
    assert number is not None
    actor = Actor(spring.ada.id, NOON)

    assert await spring.store.threads.hide(spring.section, number, 1, "It has the solution.", actor)
    assert not await spring.store.threads.hide(spring.section, number, 1, "Twice.", actor)
    assert not await spring.store.threads.hide(spring.other, number, 1, "", Actor(spring.dan.id, NOON))

    assert [await spring.numbers(one) for one in (spring.ada, spring.bob, spring.cyd)] == [[number], [number], []]
    line = (await spring.store.accounts.audit_lines())[0]
    assert (line.verb, line.reason) == ("hide a post", "It has the solution.")
    assert not await spring.store.threads.edit(spring.section, number, 1, "x", Actor(spring.bob.id, NOON))
    assert await spring.store.threads.hide(spring.section, number, 1, "", actor)
    assert await spring.numbers(spring.cyd) == [number]


async def test_only_its_writer_edits_a_post_and_only_in_its_own_thread(spring: Class) -> None:
    first, second = await spring.ask(spring.bob), await spring.ask(spring.bob, "And this?")
    assert first is not None
    assert second is not None
    edit, bob = spring.store.threads.edit, Actor(spring.bob.id, NOON + timedelta(minutes=1))

    assert not await edit(spring.section, first, 1, "x", Actor(spring.ada.id, NOON))
    assert not await edit(spring.section, second, 1, "x", bob)
    assert await edit(spring.section, first, 1, "Why really?", bob)

    post = (await spring.store.threads.posts(first))[0]
    assert (post.text, post.edited_at) == ("Why really?", bob.at)


async def test_a_search_finds_what_has_each_word(spring: Class) -> None:
    number = await spring.ask(spring.bob, "Why is the Leaf empty?")
    assert number is not None
    await spring.reply(spring.ada, number, "100% because nothing reached it.")
    await spring.ask(spring.cyd, "What is a leaf?")

    assert await spring.numbers(spring.ada, ThreadFilter(words=("leaf", "because"))) == [number]
    assert await spring.numbers(spring.ada, ThreadFilter(words=("100%",))) == [number]
    assert await spring.numbers(spring.ada, ThreadFilter(words=("1%0",))) == []


async def test_what_others_answered_stays_without_the_name_of_an_erased_person(spring: Class) -> None:
    answered, lonely = await spring.ask(spring.bob), await spring.ask(spring.bob, "Nobody answers this.")
    assert answered is not None
    await spring.reply(spring.cyd, answered)
    await spring.reply(spring.bob, answered, "Thank you.")

    await spring.store.accounts.erase(spring.bob.id, SOMEBODY)

    assert await spring.numbers(spring.ada) == [answered]
    posts = await spring.store.threads.posts(answered)
    assert [(post.account, post.text) for post in posts] == [(None, "Why?"), (spring.cyd.id, "So.")]
    assert await spring.store.threads.posts(lonely or 0) == ()

    await spring.store.accounts.erase(spring.cyd.id, SOMEBODY)
    assert await spring.numbers(spring.ada) == []


async def test_an_export_has_what_a_person_wrote_and_read(spring: Class) -> None:
    number = await spring.ask(spring.bob)
    assert number is not None
    await spring.reply(spring.ada, number)
    await spring.store.threads.keep_read(number, spring.bob.id, 2)

    exported = await spring.store.export(spring.bob.learner)

    assert [row["number"] for row in exported["threads"]] == [number]
    assert [row["text"] for row in exported["posts"]] == ["Why?"]
    assert [row["read_to"] for row in exported["thread_reads"]] == [2]

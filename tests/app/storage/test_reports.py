"""Reports of readers: kept with their person, closed with a sentence, seen by a section's own staff alone."""

from datetime import UTC, datetime, timedelta

import pytest

from app.access.permissions import Role
from app.storage.audit import Actor
from app.storage.records import Account, SectionId, Session, Work
from app.storage.reports import MAX_OPEN_OF_ONE, Report, ReportFilter, ReportState
from app.storage.store import Store
from graders.contract.model import LearnerId

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SOMEBODY = Actor(None, NOON)
EVERYTHING = ReportFilter(state=ReportState.ALL)


def report(text: str, page: str = "chapters/one", block: str = "tape~1") -> Report:
    return Report(0, page, block, "a" * 16, "b" * 16, text, NOON)


async def make_account(store: Store, name: str) -> Account:
    account = await store.accounts.create(name, "hash", SOMEBODY)
    assert account is not None
    return account


async def join(store: Store, section: SectionId, account: Account, role: Role = Role.LEARNER) -> None:
    await store.sections.invite(section, account.name, role, SOMEBODY)
    await store.sections.accept(section, Actor(account.id, NOON))


async def test_a_closed_report_says_what_was_changed_until_it_is_opened_again(store: Store) -> None:
    ada, eve = await make_account(store, "Ada"), await make_account(store, "Eve")
    await store.reports.add(ada.learner, report("The sum is 7."))
    (found,) = await store.reports.find(ReportFilter())

    assert await store.reports.close(found.number, "It says 7 now.", None, Actor(eve.id, NOON + timedelta(1)))
    assert not await store.reports.close(found.number, "again", None, SOMEBODY)
    (closed,) = await store.reports.of_learner(ada.learner)
    assert (closed.note, closed.closed_at) == ("It says 7 now.", NOON + timedelta(1))
    assert await store.reports.find(ReportFilter()) == ()

    assert await store.reports.reopen(found.number, None, SOMEBODY)
    assert not await store.reports.reopen(found.number, None, SOMEBODY)
    assert await store.reports.find(ReportFilter()) == (found,)
    lines = [(line.verb, line.object) for line in await store.accounts.audit_lines()]
    assert lines[:2] == [("reopen a report", "report 1"), ("close a report", "report 1")]


async def test_reports_are_found_by_state_and_page(store: Store) -> None:
    for text, page in (("a", "chapters/one"), ("b", "chapters/two"), ("c", "glossary")):
        await store.reports.add(LearnerId("l" * 32), report(text, page))
    await store.reports.close(2, "done", None, SOMEBODY)

    async def texts(wanted: ReportFilter) -> list[str]:
        return [one.text for one in await store.reports.find(wanted)]

    assert await texts(ReportFilter()) == ["c", "a"]
    assert await texts(ReportFilter(state=ReportState.CLOSED)) == ["b"]
    assert await texts(ReportFilter(state=ReportState.ALL, page="chapters/two")) == ["b"]
    assert [one.text for one in await store.reports.find(EVERYTHING, most=2)] == ["c", "b"]
    assert await store.reports.count(EVERYTHING) == 3
    assert await store.reports.pages(None) == ("chapters/one", "chapters/two", "glossary")


async def test_a_section_has_the_reports_of_its_members_alone(store: Store) -> None:
    ada, bob = await make_account(store, "Ada"), await make_account(store, "Bob")
    spring, autumn = [await store.sections.make(title, SOMEBODY) for title in ("Spring", "Autumn")]
    await join(store, spring, ada)
    await store.sections.invite(spring, "Bob", Role.LEARNER, SOMEBODY)
    await join(store, autumn, bob)
    await store.reports.add(ada.learner, report("of Ada"))
    await store.reports.add(bob.learner, report("of Bob, who has not accepted spring"))
    await store.reports.add(LearnerId("n" * 32), report("of nobody known"))

    found = await store.reports.find(ReportFilter(spring))
    foreign = await store.reports.find(ReportFilter(autumn))

    assert [one.text for one in found] == ["of Ada"]
    assert not await store.reports.close(foreign[0].number, "not ours", spring, SOMEBODY)
    assert await store.reports.close(found[0].number, "ours", spring, SOMEBODY)
    assert not await store.reports.reopen(found[0].number, autumn, SOMEBODY)


async def test_a_learner_has_only_so_many_open_reports(store: Store) -> None:
    learner = LearnerId("l" * 32)
    kept = [await store.reports.add(learner, report(f"{n}")) for n in range(MAX_OPEN_OF_ONE + 1)]

    assert kept == [True] * MAX_OPEN_OF_ONE + [False]
    await store.reports.close(1, "done", None, SOMEBODY)
    assert await store.reports.add(learner, report("one more"))


async def test_reports_go_with_their_learner_and_stay_when_their_closer_goes(store: Store) -> None:
    ada, eve = await make_account(store, "Ada"), await make_account(store, "Eve")
    await store.reports.add(ada.learner, report("wrong"))
    await store.reports.close(1, "right now", None, Actor(eve.id, NOON))

    await store.accounts.erase(eve.id, SOMEBODY)
    exported = (await store.export(ada.learner))["reports"]
    assert [(row["text"], row["note"]) for row in exported] == [("wrong", "right now")]
    assert exported[0]["reported_at"] == NOON.isoformat()

    await store.forget(ada.learner)
    assert await store.reports.find(EVERYTHING) == ()


async def test_an_export_does_not_name_who_closed_the_report(store: Store) -> None:
    ada, eve = await make_account(store, "Ada"), await make_account(store, "Eve")
    await store.reports.add(ada.learner, report("wrong"))
    await store.reports.close(1, "right now", None, Actor(eve.id, NOON))

    assert eve.id not in str(await store.export(ada.learner))


@pytest.mark.parametrize("others", [True, False])
async def test_a_browser_s_reports_become_the_account_s(store: Store, others: bool) -> None:
    """A report alone is work enough to be asked about."""
    old = LearnerId("o" * 32)
    await store.sessions.keep(Session("anonymous", old, NOON, NOON), NOON, NOON + timedelta(1))
    await store.reports.add(old, report("found before signing in"))
    ada = await make_account(store, "Ada")
    if others:
        await store.reports.add(ada.learner, report("mine"))
    fresh = Session("signed in", ada.learner, NOON, NOON, ada, NOON, "password")

    session = await store.sessions.begin_signed_in(fresh, Session("anonymous", old, NOON, NOON))

    assert await store.accounts.claim_work(session) == Work(0, 0, 0, 1)
    texts = [one.text for one in await store.reports.of_learner(ada.learner)]
    assert texts == ["mine", "found before signing in"][not others :]

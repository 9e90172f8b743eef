"""A regrade changes grades once it is applied, in one transaction, and never a submission's own result."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, select

from app.access.permissions import Role
from app.learning.grading import Assignment, Credit, Kind
from app.storage.audit import Actor
from app.storage.records import Account, SectionId
from app.storage.regraded import Result
from app.storage.regrades import Plan, RegradePolicy, Scope
from app.storage.statements import fetch
from app.storage.store import Store
from app.storage.tables import audit
from graders.contract.jobs import GradeJob, Queue
from graders.contract.model import ExerciseName, SubmissionId
from graders.contract.results import CaseResult, Outcome, Verdict
from graders.ledger import Database, Ledger, open_ledger_on
from graders.ledger.tables import queued, submissions

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEACHER = Actor(None, NOON)
DOUBLE = ExerciseName("double")
LAB = Assignment("", Kind.EXERCISE, "double", "Double it", points=10, credit=Credit.SHARE)
PLAN = Plan(Scope.NEWEST, RegradePolicy.RAISE, "A hidden case was wrong.", "new")
WRONG, PASSED = Result("wrong_answer", 1, 4), Result("passed", 4, 4)


@pytest.fixture
async def ledger(database: Database, tmp_path: Path) -> Ledger:
    return open_ledger_on(database, tmp_path / "wakeups")


@pytest.fixture
async def section(store: Store) -> SectionId:
    return await store.sections.make("Spring", TEACHER)


@pytest.fixture
async def lab(store: Store, section: SectionId) -> str:
    await store.assignments.make(section, [LAB], TEACHER)
    return (await store.assignments.of_section(section))[0].id


async def join(store: Store, section: SectionId, name: str, role: Role = Role.LEARNER) -> Account:
    account = await store.accounts.create(name, "hash", TEACHER)
    assert account is not None
    assert await store.sections.invite(section, name, role, TEACHER)
    assert await store.sections.accept(section, Actor(account.id, NOON))
    return account


async def judge(ledger: Ledger, submission: SubmissionId, result: Result) -> None:
    claim = await ledger.claim(submission, "w1")
    assert claim is not None
    cases = tuple(
        CaseResult(name=f"{n}", idea="", passed=n < result.passed, public=False) for n in range(result.total)
    )
    verdict = Verdict(outcome=Outcome(result.outcome), exercise=DOUBLE, cases=cases, cases_total=result.total)
    assert await ledger.finish(claim, verdict)


async def hand_in(ledger: Ledger, account: Account, key: str, result: Result) -> SubmissionId:
    job = GradeJob(exercise=DOUBLE, source=key, exercise_digest="old")
    accepted = await ledger.submit(account.learner, key, job)
    await judge(ledger, accepted.id, result)
    return accepted.id


async def judge_all(ledger: Ledger, results: dict[str, Result]) -> None:
    """What a grader does with the queue: each source has a result."""
    for found in await ledger.database.read(_queued):
        submission = await ledger.find(SubmissionId(found))
        assert submission is not None
        await judge(ledger, submission.id, results[submission.job.source])


def _queued(connection: Connection) -> list[str]:
    return [row.id for row in fetch(connection, select(submissions.c.id).where(queued))]


async def earned(store: Store, section: SectionId) -> list[float]:
    """What everything handed in to the section's assignments earns."""
    assigned = await store.assignments.of_section(section)
    work = await store.assignments.class_work(section, assigned)
    return [one.earned for attempts in work.handed_in.values() for one in attempts]


async def test_an_applied_regrade_counts_and_the_submission_keeps_its_own_result(
    store: Store, ledger: Ledger, section: SectionId, lab: str
) -> None:
    ada = await join(store, section, "Ada")
    first = await hand_in(ledger, ada, "source-1", WRONG)
    number = await store.regrades.start(section, lab, PLAN, TEACHER)
    assert number is not None
    await judge_all(ledger, {"source-1": PASSED})

    assert await earned(store, section) == [0.25]
    (item,) = await store.regrades.items(section, number)
    assert (item.submission, item.account, item.before, item.after) == (first, ada.id, WRONG, PASSED)

    assert await store.regrades.apply(section, number, TEACHER)

    assert await earned(store, section) == [1.0]
    own = await ledger.find(first)
    assert own is not None
    assert own.result is not None
    assert own.result.outcome is Outcome.WRONG_ANSWER
    assert len(await ledger.everything(ada.learner)) == 1
    (read,) = await store.regraded.of_learner(ada.learner)
    assert (read.reason, read.before, read.after, read.counts) == (PLAN.reason, WRONG, PASSED, True)


async def test_applying_twice_changes_nothing_and_the_audit_has_one_line_with_the_reason(
    store: Store, ledger: Ledger, section: SectionId, lab: str, database: Database
) -> None:
    await hand_in(ledger, await join(store, section, "Ada"), "source-1", WRONG)
    number = await store.regrades.start(section, lab, PLAN, TEACHER)
    assert number is not None
    await judge_all(ledger, {"source-1": PASSED})

    assert [await store.regrades.apply(section, number, TEACHER) for _ in range(2)] == [True, False]

    lines = await database.read(fetch, select(audit.c.verb, audit.c.after, audit.c.reason).order_by(audit.c.number))
    assert [tuple(line) for line in lines if "regrade" in line.verb] == [
        ("apply a regrade", "Double it: 1 raised, 0 lowered, of 1", PLAN.reason)
    ]


@pytest.mark.parametrize(
    ("policy", "counted"), [(RegradePolicy.RAISE, [1.0, 1.0, 1.0]), (RegradePolicy.REPLACE, [1.0, 0.25, 1.0])]
)
async def test_a_regrade_lowers_only_when_it_is_asked_to_and_our_fault_changes_nothing(
    store: Store, ledger: Ledger, section: SectionId, lab: str, policy: RegradePolicy, counted: list[float]
) -> None:
    for name, before in (("Ada", WRONG), ("Bea", PASSED), ("Cy", PASSED)):
        await hand_in(ledger, await join(store, section, name), f"source-{name}", before)
    number = await store.regrades.start(section, lab, replace(PLAN, policy=policy), TEACHER)
    assert number is not None
    fault = Result("grader_fault", 0, 0)
    await judge_all(ledger, {"source-Ada": PASSED, "source-Bea": WRONG, "source-Cy": fault})

    assert await store.regrades.apply(section, number, TEACHER)

    assert await earned(store, section) == counted


async def test_nothing_is_applied_before_everything_was_judged(
    store: Store, ledger: Ledger, section: SectionId, lab: str
) -> None:
    await hand_in(ledger, await join(store, section, "Ada"), "source-1", WRONG)
    number = await store.regrades.start(section, lab, PLAN, TEACHER)
    assert number is not None

    assert not await store.regrades.apply(section, number, TEACHER)
    assert (await store.regrades.items(section, number))[0].after is None


async def test_a_dropped_regrade_leaves_no_job_and_no_effect(
    store: Store, ledger: Ledger, section: SectionId, lab: str
) -> None:
    ada = await join(store, section, "Ada")
    await hand_in(ledger, ada, "source-1", WRONG)
    number = await store.regrades.start(section, lab, PLAN, TEACHER)
    assert number is not None

    assert [await store.regrades.drop(section, number, TEACHER) for _ in range(2)] == [True, False]

    assert (await ledger.depth(Queue.CPU)).queued == 0
    assert not await store.regrades.apply(section, number, TEACHER)
    assert await earned(store, section) == [0.25]
    assert await store.regraded.of_learner(ada.learner) == ()


async def test_started_twice_it_is_one_regrade_and_later_another(
    store: Store, ledger: Ledger, section: SectionId, lab: str
) -> None:
    await hand_in(ledger, await join(store, section, "Ada"), "source-1", WRONG)

    first, again = [await store.regrades.start(section, lab, PLAN, TEACHER) for _ in range(2)]

    assert first is not None
    assert first == again
    assert (await ledger.depth(Queue.CPU)).queued == 1
    await store.regrades.drop(section, first, TEACHER)
    assert await store.regrades.start(section, lab, PLAN, TEACHER) not in (None, first)


async def test_a_second_regrade_begins_from_what_the_first_made_count(
    store: Store, ledger: Ledger, section: SectionId, lab: str
) -> None:
    await hand_in(ledger, await join(store, section, "Ada"), "source-1", WRONG)
    half = Result("wrong_answer", 2, 4)
    for result in (half, PASSED):
        number = await store.regrades.start(section, lab, PLAN, TEACHER)
        assert number is not None
        await judge_all(ledger, {"source-1": result})
        assert await store.regrades.apply(section, number, TEACHER)

    assert [item.before for item in await store.regrades.items(section, number)] == [half]
    assert await earned(store, section) == [1.0]


@pytest.mark.parametrize(("scope", "sources"), [(Scope.NEWEST, {"source-2"}), (Scope.ALL, {"source-1", "source-2"})])
async def test_the_newest_or_all_judged_submissions_of_the_section_s_learners_alone(
    store: Store, ledger: Ledger, section: SectionId, lab: str, scope: Scope, sources: set[str]
) -> None:
    """Not those of staff, of another section's learners, and none that failed by our fault."""
    ada = await join(store, section, "Ada")
    for key in ("source-1", "source-2"):
        await hand_in(ledger, ada, key, WRONG)
    await hand_in(ledger, ada, "source-3", Result("grader_fault", 0, 0))
    await hand_in(ledger, await join(store, section, "Tea", Role.ASSISTANT), "source-4", WRONG)
    elsewhere = await store.sections.make("Autumn", TEACHER)
    await hand_in(ledger, await join(store, elsewhere, "Bea"), "source-5", WRONG)

    await store.regrades.start(section, lab, replace(PLAN, scope=scope), TEACHER)

    waiting = [await ledger.find(SubmissionId(found)) for found in await ledger.database.read(_queued)]
    assert {one.job.source for one in waiting if one} == sources


async def test_what_somebody_handed_in_after_they_had_left_is_not_the_section_s_to_judge(
    store: Store, ledger: Ledger, section: SectionId, lab: str
) -> None:
    ada = await join(store, section, "Ada")
    then = await ledger.find(await hand_in(ledger, ada, "source-1", WRONG))
    assert then is not None
    # A moment of Python is rounded to a microsecond, and so could be before the submission's own.
    assert await store.sections.leave(section, Actor(ada.id, then.submitted_at + timedelta(microseconds=1)))
    await hand_in(ledger, ada, "source-2", WRONG)

    await store.regrades.start(section, lab, PLAN, TEACHER)

    waiting = [await ledger.find(SubmissionId(found)) for found in await ledger.database.read(_queued)]
    assert [one.job.source for one in waiting if one] == ["source-1"]


async def test_another_section_starts_reads_applies_and_drops_nothing(
    store: Store, ledger: Ledger, section: SectionId, lab: str
) -> None:
    await hand_in(ledger, await join(store, section, "Ada"), "source-1", WRONG)
    number = await store.regrades.start(section, lab, PLAN, TEACHER)
    assert number is not None
    await judge_all(ledger, {"source-1": PASSED})
    other = await store.sections.make("Autumn", TEACHER)

    assert await store.regrades.start(other, lab, PLAN, TEACHER) is None
    assert await store.regrades.find(other, number) is None
    assert await store.regrades.items(other, number) == ()
    assert not await store.regrades.apply(other, number, TEACHER)
    assert not await store.regrades.drop(other, number, TEACHER)
    assert await store.regrades.find(section, number) is not None


async def test_nobody_having_handed_in_there_is_nothing_to_judge(store: Store, section: SectionId, lab: str) -> None:
    assert await store.regrades.start(section, lab, PLAN, TEACHER) is None
    assert await store.regrades.of_section(section) == ()


async def test_a_regrade_survives_a_restart_of_site_and_grader(tmp_path: Path, database_url: str) -> None:
    before = Database(database_url)
    store, ledger = Store(before), open_ledger_on(before, tmp_path / "wakeups")
    section = await store.sections.make("Spring", TEACHER)
    await store.assignments.make(section, [LAB], TEACHER)
    lab = (await store.assignments.of_section(section))[0].id
    await hand_in(ledger, await join(store, section, "Ada"), "source-1", WRONG)
    number = await store.regrades.start(section, lab, PLAN, TEACHER)
    assert number is not None
    await before.close()

    after = Database(database_url)
    store, ledger = Store(after), open_ledger_on(after, tmp_path / "wakeups")
    await judge_all(ledger, {"source-1": PASSED})
    assert await store.regrades.apply(section, number, TEACHER)
    assert await earned(store, section) == [1.0]
    await after.close()


async def test_an_erased_learner_leaves_no_item(store: Store, ledger: Ledger, section: SectionId, lab: str) -> None:
    ada = await join(store, section, "Ada")
    await hand_in(ledger, ada, "source-1", WRONG)
    number = await store.regrades.start(section, lab, PLAN, TEACHER)
    assert number is not None

    await store.forget(ada.learner)

    assert await store.regrades.items(section, number) == ()
    assert (await ledger.depth(Queue.CPU)).queued == 0

"""A class that has handed in: submissions that are judged without a worker, each with the outcome a test wants."""

import itertools

from people import join, make_account, somebody
from sqlalchemy import update

from app.access.permissions import Role
from app.storage.records import Account, SectionId
from app.storage.statements import change
from app.storage.tables import memberships
from app.web.edge.site import Site
from graders.contract.jobs import GradeJob
from graders.contract.model import ExerciseName, SubmissionId
from graders.contract.results import Outcome, Verdict

EXERCISE = "double"
WRONG = "def double(x):\n    return x\n"
LOOPS = """
def double(values):
    found = []
    for value in values:
        if value > 0:
            found.append(value * 2)
        else:
            found.append(value + value)
    return found
"""
MAPS = """
def double(values):
    pairs = zip(values, values, strict=True)
    totals = map(sum, pairs)
    return sorted(list(totals), key=abs)[::-1]
"""

_keys = itertools.count()


async def hand_in(
    site: Site, account: Account, source: str, outcome: Outcome = Outcome.PASSED, exercise: str = EXERCISE
) -> SubmissionId:
    job = GradeJob(exercise=ExerciseName(exercise), source=source)
    accepted = await site.ledger.submit(account.learner, f"handed-in-{next(_keys)}", job)
    claim = await site.ledger.claim(accepted.id, "a test")
    assert claim is not None
    assert await site.ledger.finish(claim, Verdict(outcome=outcome, exercise=job.exercise))
    return accepted.id


async def make_class(site: Site, *names: str, title: str = "Spring") -> tuple[SectionId, dict[str, Account]]:
    """A section with these learners."""
    section = await site.store.sections.make(title, somebody(site))
    people = {name: await make_account(site, name) for name in names}
    for account in people.values():
        await join(site, section, account, Role.LEARNER)
    return section, people


async def staff(site: Site, section: SectionId, name: str, role: Role = Role.INSTRUCTOR) -> Account:
    account = await make_account(site, name)
    await join(site, section, account, role)
    return account


async def end_membership(site: Site, section: SectionId, account: Account, at: float) -> None:
    """The person is no longer in the section since `at`; their row stays."""
    theirs = (memberships.c.section == section) & (memberships.c.account == account.id)
    gone = update(memberships).where(theirs).values(status="dropped", dropped_at=at)
    await site.ledger.database.write(change, gone)

"""A class for tests of the desk: a section with staff, learners, assignments, and work that a fake grader judged."""

from dataclasses import dataclass, field

from people import join, make_account, somebody

from app.access.permissions import Role
from app.learning.grading import Assignment, Kind
from app.storage.records import Account, SectionId
from app.web.edge.site import Site
from graders.contract.jobs import GradeJob
from graders.contract.model import ExerciseName, SubmissionId
from graders.contract.results import CaseResult, Outcome, Verdict

TEACHER = "Tea Cher"


@dataclass
class Class:
    """`learners` by name; `assigned` in the section's order."""

    site: Site
    section: SectionId
    learners: dict[str, Account] = field(default_factory=dict)

    async def enrol(self, name: str, role: Role = Role.LEARNER) -> Account:
        account = await make_account(self.site, name)
        await join(self.site, self.section, account, role)
        self.learners[name] = account
        return account

    async def assign(self, *new: Assignment) -> tuple[Assignment, ...]:
        await self.site.store.assignments.make(self.section, new, somebody(self.site))
        return await self.site.store.assignments.of_section(self.section)

    async def hand_in(self, account: Account, exercise: str, key: str, passed: int, total: int = 4) -> SubmissionId:
        """Submit an answer that passes so many of its cases. Its source is `key`."""
        job = GradeJob(exercise=ExerciseName(exercise), source=key)
        accepted = await self.site.ledger.submit(account.learner, key, job)
        await self.judge(accepted.id, passed, total)
        return accepted.id

    async def judge(self, submission: SubmissionId, passed: int, total: int = 4) -> None:
        claim = await self.site.ledger.claim(submission, "w1")
        assert claim is not None
        assert isinstance(claim.job, GradeJob)
        cases = tuple(CaseResult(name=f"{n}", idea="", passed=n < passed, public=False) for n in range(total))
        outcome = Outcome.PASSED if passed == total else Outcome.WRONG_ANSWER
        verdict = Verdict(outcome=outcome, exercise=claim.job.exercise, cases=cases, cases_total=total)
        assert await self.site.ledger.finish(claim, verdict)


async def make_class(site: Site, title: str = "ML 101", *, teacher: str = TEACHER) -> Class:
    section = await site.store.sections.make(title, somebody(site))
    made = Class(site, section)
    if teacher:
        await made.enrol(teacher, Role.INSTRUCTOR)
    return made


def exercise(target: str, points: float = 10, **more: object) -> Assignment:
    return Assignment("", Kind.EXERCISE, target, f"Exercise {target}", points, **more)  # type: ignore[arg-type]

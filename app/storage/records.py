"""The records that the store returns and accepts: frozen values, with aware UTC times."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import NewType

from app.access.permissions import SECTION_STAFF, Role
from app.access.session_limits import SessionLimits, find_limits
from app.course.questions.marking import QuestionResponse
from app.learning.review import Card
from graders.contract.model import LearnerId

AccountId = NewType("AccountId", str)
SectionId = NewType("SectionId", str)


@dataclass(frozen=True)
class Account:
    """A person who can sign in. All their work belongs to `learner`."""

    id: AccountId
    learner: LearnerId
    name: str
    is_operator: bool
    made_at: datetime
    terms_digest: str | None = None
    """The version of the operator's terms that they agreed to last."""


OIDC, LTI = "oidc", "lti"


@dataclass(frozen=True)
class Session:
    """A learner's session in one browser. The database has the hash of its token, never the token.

    `account`, `authenticated_at` and `method` are set once somebody has signed in; `unclaimed` is then the learner
    whose work this browser had before, until the person says whether it is theirs.
    """

    token_hash: str
    learner: LearnerId
    made_at: datetime
    seen_at: datetime
    account: Account | None = None
    authenticated_at: datetime | None = None
    method: str = ""
    user_agent: str = ""
    unclaimed: LearnerId | None = None
    is_staff: bool = False
    """Whether the account is an operator, or an instructor or assistant anywhere: its sessions end sooner."""

    @property
    def limits(self) -> SessionLimits:
        return find_limits(has_account=self.account is not None, is_staff=self.is_staff)


@dataclass(frozen=True)
class Work:
    """How much of a learner's work there is: chapters, submissions, drafts with hints, reports, answers to drills."""

    chapters: int
    submissions: int
    drafts_and_hints: int
    """With the notes and bookmarks."""
    reports: int = 0
    drills: int = 0

    def __bool__(self) -> bool:
        return any((self.chapters, self.submissions, self.drafts_and_hints, self.reports, self.drills))


@dataclass(frozen=True)
class Identity:
    """A person at another site who signs in as an account. `issuer` of an LTI identity is the registration's id."""

    issuer: str
    subject: str
    display: str
    linked_at: datetime
    used_at: datetime
    kind: str = OIDC


@dataclass(frozen=True)
class SectionPlan:
    """What its instructor sets for a section. `zone` is an IANA name, in which the section's dates are set and read.

    `late_percent_a_day` is what an assignment takes off for each day late, if it does not say otherwise.
    """

    title: str
    zone: str = "UTC"
    starts_on: date | None = None
    ends_on: date | None = None
    grace_minutes: int = 0
    late_percent_a_day: int = 10
    assistants_extend: bool = False


@dataclass(frozen=True)
class Section:
    """Whoever has `join_code` may become a learner; None: nobody. Nothing changes in an archived section."""

    id: SectionId
    plan: SectionPlan
    join_code: str | None = None
    archived_at: datetime | None = None

    @property
    def title(self) -> str:
        return self.plan.title


class Status(StrEnum):
    """How somebody stands in a section: "dropped" by its staff, "left" by themselves. Only "active" gives rights."""

    INVITED = "invited"
    ACTIVE = "active"
    DROPPED = "dropped"
    LEFT = "left"


@dataclass(frozen=True)
class Membership:
    """What an account is, or was, in one section."""

    section: SectionId
    title: str
    account: AccountId
    name: str
    role: Role
    status: Status
    is_archived: bool
    """Whether the section is."""

    @property
    def is_active(self) -> bool:
        return self.status is Status.ACTIVE

    @property
    def is_instructor(self) -> bool:
        """Or is invited to be."""
        return self.role is Role.INSTRUCTOR and self.status in (Status.ACTIVE, Status.INVITED)

    @property
    def is_staff(self) -> bool:
        return self.is_active and self.role in SECTION_STAFF


@dataclass(frozen=True)
class AccountLine:
    """An account as its operator sees it."""

    account: Account
    seen_at: datetime | None
    is_closed: bool
    roles: tuple[Membership, ...]


@dataclass(frozen=True)
class AuditLine:
    """One act that gave or took rights, or touched somebody else's data. `actor` is a name, or the command line."""

    number: int
    at: datetime
    actor: str
    verb: str
    object: str
    before: str
    after: str
    reason: str


@dataclass(frozen=True)
class Prediction:
    """`option` and `confidence` are None for "I don't know"; `resolved_at` is None until the run that settles it."""

    predict: str
    option: str | None
    confidence: str | None
    committed_at: datetime
    resolved_at: datetime | None = None
    content_hash: str | None = None
    """The hash of the prompt's wording that was answered; None if it was not stored."""
    course_version: str | None = None
    """The version of the course that the learner saw, as `Course.version`; None if it was not stored."""


@dataclass(frozen=True)
class Answer:
    """One attempt. `correct` is None for an open answer that was not compared with its rubric yet."""

    question: str
    response: QuestionResponse
    correct: bool | None
    answered_at: datetime
    ticked: tuple[str, ...] | None = None
    content_hash: str | None = None
    """The hash of the question's wording that was answered; None if it was not stored."""
    confidence: str | None = None
    rating: int | None = None
    """FSRS's rating; None for an open answer without ticks, and for answers from before ratings were stored."""
    in_review: bool = False
    course_version: str | None = None
    """As in a prediction."""


@dataclass(frozen=True)
class Stated:
    """An answer with a stated confidence, after its truth. A prediction has its `option`, an answer `correct`.

    `times` is how often the same was said, where a class's answers are counted.
    """

    chapter: str
    question: str
    confidence: str
    option: str | None = None
    correct: bool | None = None
    times: int = 1


@dataclass(frozen=True)
class ReviewAnswer:
    """An answer given on the review page; `number` names it."""

    number: int
    chapter: str
    answer: Answer


@dataclass(frozen=True)
class Deck:
    """A learner's review cards, and the time zone (an IANA name) in which their days are counted."""

    zone: str
    cards: tuple[Card, ...]


@dataclass(frozen=True)
class Reading:
    anchor: str
    seen_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True)
class ChapterHistory:
    """Everything one learner did in one chapter. `cell_runs` has the id of the last run of each cell."""

    predictions: Mapping[str, Prediction] = field(default_factory=dict)
    answers: tuple[Answer, ...] = ()
    cell_runs: Mapping[str, str] = field(default_factory=dict)
    reading: Reading | None = None


NOTHING_YET = ChapterHistory()

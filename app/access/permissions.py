"""Roles, permissions, and which role has which. Nothing else in the code decides what a role may do."""

from collections.abc import Collection, Mapping
from enum import StrEnum


class Role(StrEnum):
    """`OPERATOR` is a role on the whole site, the next three in one section, and everybody is a reader."""

    OPERATOR = "operator"
    INSTRUCTOR = "instructor"
    ASSISTANT = "assistant"
    LEARNER = "learner"
    READER = "reader"


SECTION_ROLES = (Role.INSTRUCTOR, Role.ASSISTANT, Role.LEARNER)
SECTION_STAFF = (Role.INSTRUCTOR, Role.ASSISTANT)


class Permission(StrEnum):
    """What a route needs. Those of a section are asked for the section in the route's path."""

    READ = "read, run, submit, and one's own data"
    OWN_ACCOUNT = "one's own account"
    SEE_PEOPLE = "see who is in a section"
    MANAGE_PEOPLE = "invite people to a section, and make one-time links for its learners"
    MAKE_SECTIONS = "make a section of one's own"
    MANAGE_SECTION = "change a section: its dates, its rules, its code, its archive"
    MANAGE_ROSTER = "bring in a section's roster, and say whose account each of its lines is"
    HANDLE_REPORTS = "read and close what a section's people report as wrong in the course"
    ASK_QUESTIONS = "ask about the course in a section, and read what its members may read"
    ANSWER_QUESTIONS = "the inbox of a section's questions; endorse and hide what is written there"
    SEE_SUBMISSIONS = "read what a section's learners handed in, and comment on it"
    VIEW_AS = "see the course as a learner of a section sees it, without changing anything"
    SEE_KNOWLEDGE = "see what a section's learners know, without names"
    DOWNLOAD_ANSWERS = "download a section's first answers, without names"
    COMPARE_PROGRAMS = "see which programs of a section are most alike"
    SEE_ASSIGNMENTS = "see what a section assigns, and who was granted what"
    SET_ASSIGNMENTS = "assign, with points, dates and rules"
    TAKE_EXERCISES = "take an exercise out of the course as files, with its solution and cases"
    GRANT_ALLOWANCES = "grant extensions and attempts, and excuse; assistants only if the section says so"
    SEE_GRADES = "the gradebook of a section, and why each grade is what it is"
    DECIDE_GRADES = "set a grade in place of the computed one, judge again, and take the grades out as a file"
    SEE_AUDIT = "read the audit of a section"
    SEE_OPERATION = "see how the site runs"
    OPERATE = "accounts, sections and the audit of the site"


EVERYBODY = frozenset(Role)

ALLOWED: Mapping[Permission, frozenset[Role]] = {
    Permission.READ: EVERYBODY,
    Permission.OWN_ACCOUNT: EVERYBODY,
    Permission.SEE_PEOPLE: frozenset({Role.INSTRUCTOR, Role.ASSISTANT}),
    Permission.MANAGE_PEOPLE: frozenset({Role.INSTRUCTOR}),
    Permission.MAKE_SECTIONS: frozenset({Role.INSTRUCTOR, Role.OPERATOR}),
    Permission.MANAGE_SECTION: frozenset({Role.INSTRUCTOR}),
    Permission.MANAGE_ROSTER: frozenset({Role.INSTRUCTOR}),
    Permission.HANDLE_REPORTS: frozenset({Role.INSTRUCTOR}),
    Permission.ASK_QUESTIONS: frozenset({Role.INSTRUCTOR, Role.ASSISTANT, Role.LEARNER}),
    Permission.ANSWER_QUESTIONS: frozenset({Role.INSTRUCTOR, Role.ASSISTANT}),
    Permission.SEE_SUBMISSIONS: frozenset({Role.INSTRUCTOR, Role.ASSISTANT}),
    Permission.VIEW_AS: frozenset({Role.INSTRUCTOR}),
    Permission.SEE_KNOWLEDGE: frozenset({Role.INSTRUCTOR, Role.ASSISTANT}),
    Permission.DOWNLOAD_ANSWERS: frozenset({Role.INSTRUCTOR}),
    Permission.COMPARE_PROGRAMS: frozenset({Role.INSTRUCTOR}),
    Permission.SEE_ASSIGNMENTS: frozenset({Role.INSTRUCTOR, Role.ASSISTANT}),
    Permission.SET_ASSIGNMENTS: frozenset({Role.INSTRUCTOR}),
    Permission.TAKE_EXERCISES: frozenset({Role.INSTRUCTOR}),
    Permission.GRANT_ALLOWANCES: frozenset({Role.INSTRUCTOR, Role.ASSISTANT}),
    Permission.SEE_GRADES: frozenset({Role.INSTRUCTOR, Role.ASSISTANT}),
    Permission.DECIDE_GRADES: frozenset({Role.INSTRUCTOR}),
    Permission.SEE_AUDIT: frozenset({Role.INSTRUCTOR}),
    Permission.SEE_OPERATION: frozenset({Role.OPERATOR}),
    Permission.OPERATE: frozenset({Role.OPERATOR}),
}
"""An operator has no rights in a section by being one; to look into it they add themselves, which is audited."""


def is_allowed(permission: Permission, roles: Collection[Role]) -> bool:
    return not ALLOWED[permission].isdisjoint(roles)

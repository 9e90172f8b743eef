"""What the reader's sections assign, as sentences for the pages on which it is done."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from app.course.model import Course
from app.learning.calendar import Deadline
from app.learning.grade_sentences import say_due, say_points
from app.learning.grading import Assignment, GradeState, Kind
from app.storage.assignments import Assigned
from app.storage.regraded import Regraded
from app.web.edge.identity import RequestContext
from app.web.views.assigned import find_href, title_target
from app.web.views.grade_table import say_now, say_own_time
from app.web.views.grades import Graded, grade_all
from graders.contract.model import LearnerId, SubmissionId

SUBJECTS = {
    Kind.EXERCISE: "This exercise",
    Kind.RETRIEVAL: "The questions here",
    Kind.PREDICTIONS: "The predictions here",
}

WITHIN = {Kind.RETRIEVAL: "the questions", Kind.PREDICTIONS: "the predictions"}


async def find_assigned(context: RequestContext, target: str = "") -> tuple[Assigned, ...]:
    """What the reader's sections ask of them, without archived sections; of `target` alone, if it is given."""
    found = await find_all_assigned(context, target)
    return tuple(one for one in found if one.assignments and not one.is_archived)


async def find_all_assigned(context: RequestContext, target: str = "") -> tuple[Assigned, ...]:
    """The same with archived sections. In a view, that of its section alone, for its learner."""
    assignments, viewing = context.site.store.assignments, context.viewing
    if viewing is not None and viewing.learner is None:
        return (await assignments.of_nobody(viewing.section, context.now, target),)
    if viewing is not None and viewing.learner is not None:
        found = await assignments.of_learner(viewing.learner, context.now, target)
        # In which time zone somebody lives is theirs.
        return tuple(replace(one, own_zone=None) for one in found if one.section == viewing.section)
    if context.account is None or context.learner is None:
        return ()
    return await assignments.of_learner(context.learner, context.now, target)


async def find_regraded(context: RequestContext, submission: SubmissionId | None = None) -> tuple[Regraded, ...]:
    """What was judged again of the reader's work. In a view, what its section judged again of its learner's."""
    regraded, viewing = context.site.store.regraded, context.viewing
    if viewing is not None:
        found = regraded.of_learner(viewing.learner, submission, viewing.section) if viewing.learner else None
        return await found if found else ()
    return await regraded.of_learner(context.learner, submission) if context.learner else ()


async def say_assigned(context: RequestContext, target: str, *kinds: Kind) -> tuple[str, ...]:
    """A sentence or two for each assignment of an exercise or a chapter: for whom it counts, until when, how much."""
    sentences = []
    for section in await find_assigned(context, target):
        for one, graded in _grade(context, section):
            if one.kind in kinds:
                sentences.append(_say(section, one, graded, context))
    return tuple(sentences)


async def say_by_chapter(context: RequestContext) -> Mapping[str, tuple[str, ...]]:
    """By chapter, each thing that is due there: its questions, its predictions, and the exercises that it offers."""
    found: dict[str, list[str]] = defaultdict(list)
    for section in await find_assigned(context):
        for one, graded in _grade(context, section):
            name = _name_within(context.course, one)
            words = f"{section.title}: {name}, {say_due(graded.terms)}; {_say_so_far(one, graded)}"
            for slug in _chapters_of(context.course, one):
                found[slug].append(words)
    return {slug: tuple(words) for slug, words in found.items()}


async def list_deadlines(context: RequestContext, learner: LearnerId, feed: str) -> tuple[Deadline, ...]:
    """What is due for a learner and when, with their extensions; `feed` names their calendar without its secret."""
    deadlines = []
    for section in await context.site.store.assignments.of_learner(learner, context.now):
        for one, graded in [] if section.is_archived else _grade(context, section):
            due_at, path = graded.terms.due_at, find_href(context.course, one)
            if due_at is not None and not graded.terms.is_excused:
                words = f"{section.title}: {one.title} is due"
                link = f"{context.site_address}{path or '/me/grades'}"
                deadlines.append(Deadline(due_at, words, link, f"{one.id}-{feed}@assignment"))
    return tuple(deadlines)


def _name_within(course: Course, one: Assignment) -> str:
    """The assignment beside its chapter's title, which need not be read twice."""
    is_named_after_it = one.kind is not Kind.EXERCISE and one.title == title_target(course, one.kind, one.target)
    return WITHIN[one.kind] if is_named_after_it else one.title


def _chapters_of(course: Course, one: Assignment) -> tuple[str, ...]:
    if one.kind is Kind.EXERCISE:
        return tuple(chapter.slug for chapter in course.index.offering.get(one.target, ()))
    return (one.target,)


def _grade(context: RequestContext, section: Assigned) -> list[tuple[Assignment, Graded]]:
    people = [section.account]
    grades = grade_all(context.course, section.policy, section.assignments, people, section.work, context.now)
    return [(one, grades[one.id, section.account]) for one in section.assignments]


def _say(section: Assigned, one: Assignment, graded: Graded, context: RequestContext) -> str:
    verb = "counts" if one.kind is Kind.EXERCISE else "count"
    terms, now = graded.terms, say_now(graded, context.now)
    own = say_own_time(terms.due_at, terms.zone, section.own_zone)
    due = say_due(terms) + (f", for you {own}" if own else "")
    rest = f"; {now}" if now else ""
    so_far = _say_so_far(one, graded)
    return f"{SUBJECTS[one.kind]} {verb} for {section.title}: {due}{rest}. {so_far[0].upper()}{so_far[1:]}."


def _say_so_far(one: Assignment, graded: Graded) -> str:
    maximum = f"{say_points(one.points)} points"
    match graded.grade.state:
        case GradeState.NOT_YET:
            return f"no grade yet, {maximum}"
        case GradeState.EXCUSED:
            return "you are excused"
        case _:
            return f"you have {graded.points} of {maximum}"

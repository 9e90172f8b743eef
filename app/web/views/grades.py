"""The grades of a section's learners, from their work and from what the course holds now."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from app.course.model import Course
from app.learning.grade_sentences import say_grade, say_points
from app.learning.grading import Assignment, Grade, Kind, Policy, Terms, compute_grade, find_terms
from app.storage.handed_in import Cell, ClassWork
from app.storage.records import AccountId


@dataclass(frozen=True)
class Graded:
    """A grade with the terms that held for its person."""

    terms: Terms
    grade: Grade

    @property
    def sentence(self) -> str:
        """Why the grade is what it is."""
        return say_grade(self.grade, self.terms)

    @property
    def points(self) -> str:
        return say_points(self.grade.points)


THE_EXERCISE = ("",)
"""An exercise is one item, without a name of its own."""


def items_of(course: Course, assignment: Assignment) -> tuple[str, ...]:
    """What there is to hand in, as the course is now. Empty if the course has no such exercise or chapter."""
    if assignment.kind is Kind.EXERCISE:
        return THE_EXERCISE if assignment.target in course.exercises else ()
    chapter = course.index.by_slug.get(assignment.target)
    if chapter is None:
        return ()
    match assignment.kind:
        case Kind.RETRIEVAL:
            return tuple(chapter.index.questions)
        case Kind.PREDICTIONS:
            return tuple(chapter.index.predicts)
        case _:
            assert_never(assignment.kind)


def grade_all(
    course: Course,
    policy: Policy,
    assigned: Iterable[Assignment],
    people: Iterable[AccountId],
    work: ClassWork,
    now: datetime,
) -> Mapping[Cell, Graded]:
    """The grade of each of the people for each assignment."""
    grades, everybody = {}, tuple(people)
    for assignment in assigned:
        items, usual = items_of(course, assignment), find_terms(assignment, policy)
        usual_worth = usual.worth_from(now)
        for account in everybody:
            cell = (assignment.id, account)
            handed_in = work.handed_in.get(cell, ())
            # What somebody earned stays theirs when the course drops the exercise; its grade needs nothing of it.
            kept = THE_EXERCISE if handed_in and assignment.kind is Kind.EXERCISE else items
            allowance = work.allowances.get(cell)
            terms = find_terms(assignment, policy, allowance) if allowance else usual
            override = work.overrides.get(cell)
            worth_now = usual_worth if terms is usual else None
            grade = compute_grade(terms, handed_in, now, kept, override, worth_now)
            grades[cell] = Graded(terms, grade)
    return grades

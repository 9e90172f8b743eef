"""A section's gradebook as a table: a line per learner, a cell per assignment. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.learning.deadlines import say_day
from app.learning.grade_sentences import say_points
from app.learning.gradebook_csv import Cell, Column, Gradebook, Row
from app.learning.grading import Assignment, GradeState, Policy
from app.storage.gradebook import GradebookPerson
from app.storage.handed_in import Cell as Key
from app.storage.records import AccountId, SectionId
from app.web.views.grades import Graded

Grades = Mapping[Key, Graded]


class Sort(StrEnum):
    """The order of a gradebook's lines: by name, or by total with the highest first."""

    NAME = "name"
    TOTAL = "total"


@dataclass(frozen=True)
class HeadCell:
    """An assignment at the head of its column. `due` is a day in the section's zone, empty where nothing is due."""

    title: str
    maximum: str
    due: str


@dataclass(frozen=True)
class GradeCell:
    """`mark` is "set", "late" or empty; the page says what they mean."""

    href: str
    points: str
    mark: str


@dataclass(frozen=True)
class GradeLine:
    """`total` is of what is graded, `total_of` the most that this could be; excused assignments are in neither."""

    name: str
    number: str
    total: str
    total_of: str
    cells: tuple[GradeCell, ...]


def show_head(assigned: Sequence[Assignment], policy: Policy) -> tuple[HeadCell, ...]:
    return tuple(
        HeadCell(one.title, say_points(one.points), say_day(one.due_at, policy.zone) if one.due_at else "")
        for one in assigned
    )


def sort_people(
    people: Sequence[GradebookPerson], assigned: Sequence[Assignment], grades: Grades
) -> tuple[GradebookPerson, ...]:
    """By total, the highest first; of equal totals, by name as before."""
    return tuple(sorted(people, key=lambda person: -sum_points(assigned, person.account, grades)))


def sum_points(assigned: Sequence[Assignment], account: AccountId, grades: Grades) -> float:
    return sum(grades[one.id, account].grade.points or 0.0 for one in assigned)


def show_lines(
    section: SectionId, people: Sequence[GradebookPerson], assigned: Sequence[Assignment], grades: Grades
) -> tuple[GradeLine, ...]:
    lines = []
    for person in people:
        graded = [one for one in assigned if grades[one.id, person.account].grade.points is not None]
        lines.append(
            GradeLine(
                name=person.name,
                number=person.student_number,
                total=say_points(sum_points(assigned, person.account, grades)),
                total_of=say_points(sum(one.points for one in graded)),
                cells=tuple(
                    GradeCell(
                        f"/desk/{section}/gradebook/{one.id}/{person.account}",
                        show_points(grades[one.id, person.account]),
                        find_mark(grades[one.id, person.account]),
                    )
                    for one in assigned
                ),
            )
        )
    return tuple(lines)


def show_points(graded: Graded) -> str:
    return "EX" if graded.grade.state is GradeState.EXCUSED else graded.points


def find_mark(graded: Graded) -> str:
    if graded.grade.state is GradeState.OVERRIDDEN:
        return "set"
    is_late = graded.grade.state is GradeState.EARNED and any(one.days_late for one in graded.grade.best.values())
    return "late" if is_late else ""


def make_book(
    section_title: str,
    people: Sequence[GradebookPerson],
    assigned: Sequence[Assignment],
    grades: Grades,
    columns: Mapping[str, Mapping[str, str]],
) -> Gradebook:
    """The gradebook as the files have it."""
    return Gradebook(
        section_title,
        tuple(Column(one.id, one.title, one.points, one.due_at, columns.get(one.id, {})) for one in assigned),
        tuple(
            Row(
                person.name,
                person.email,
                person.student_number,
                person.login,
                tuple(_make_cell(grades[one.id, person.account]) for one in assigned),
                person.platform_ids,
            )
            for person in people
        ),
    )


def _make_cell(graded: Graded) -> Cell:
    """For one attempt, the points before a late penalty too; an average of several has none."""
    grade, assignment = graded.grade, graded.terms.assignment
    best = grade.best.get("") if grade.state is GradeState.EARNED else None
    return Cell(
        points=grade.points,
        is_excused=grade.state is GradeState.EXCUSED,
        raw_points=assignment.points * best.handed_in.earned if best else None,
        handed_in_at=best.handed_in.at if best else None,
        sentence=graded.sentence,
    )

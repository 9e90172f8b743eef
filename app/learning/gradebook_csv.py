"""A section's grades as the files that other systems import: plain, Canvas, Moodle, Blackboard, nbgrader, JSON. Pure.

The formats come from the importers' sources (Canvas, Moodle, nbgrader) and from Blackboard's manual.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from io import StringIO

from app.learning.grade_sentences import say_points

EXCUSED = "EX"
"""What Canvas reads as excused."""
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""A spreadsheet runs a cell that begins so, in the wide forms too."""
LOOKS_LIKE_ID = re.compile(r"\((\d+)\)\s*$")


class Dialect(StrEnum):
    """Whose importer a file is for."""

    PLAIN = "plain"
    CANVAS = "canvas"
    MOODLE = "moodle"
    BLACKBOARD = "blackboard"
    NBGRADER = "nbgrader"
    JSON = "json"


@dataclass(frozen=True)
class Column:
    """An assignment. `ids` has the number under which a platform knows it, by the platform's name."""

    id: str
    title: str
    maximum: float
    due_at: datetime | None = None
    ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """One person's grade. `points` is None while there is none. `raw_points` are those before a late penalty."""

    points: float | None = None
    is_excused: bool = False
    raw_points: float | None = None
    handed_in_at: datetime | None = None
    sentence: str = ""

    @property
    def is_empty(self) -> bool:
        return self.points is None and not self.is_excused


@dataclass(frozen=True)
class Row:
    """A person as the school knows them, with a cell for each column. `ids` are platforms' ids of the person."""

    name: str
    email: str
    student_number: str
    login: str
    cells: tuple[Cell, ...]
    ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Gradebook:
    """`section` is its title. Each row has as many cells as there are columns."""

    section: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class LeftOut:
    """What is not in a file: titles of columns, and names of people."""

    columns: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


def find_left_out(book: Gradebook, dialect: Dialect) -> LeftOut:
    """What write_download leaves out."""
    if dialect in (Dialect.JSON, Dialect.NBGRADER):
        return LeftOut()
    columns = enumerate(book.columns)
    return LeftOut(
        tuple(column.title for number, column in columns if not _belongs(book, number, column, dialect)),
        tuple(row.name for row in book.rows if not _is_findable(row, dialect)),
    )


def write_download(book: Gradebook, dialect: Dialect) -> str:
    """The gradebook in one of the formats.

    Canvas and Moodle take an empty cell over a grade as a change, so a column in which nobody has a grade is left
    out. Blackboard takes a column without its id as text that counts nothing, so that is left out too. So is a person
    whom the platform could not find: one unknown person stops Moodle's whole import.
    """
    if dialect in (Dialect.JSON, Dialect.NBGRADER):
        return _write_json(book) if dialect is Dialect.JSON else _write_nbgrader(book)
    kept = [number for number, column in enumerate(book.columns) if _belongs(book, number, column, dialect)]
    rows = [row for row in book.rows if _is_findable(row, dialect)]
    columns = [book.columns[number] for number in kept]
    cells = [[row.cells[number] for number in kept] for row in rows]
    return TABLES[dialect](book.section, columns, rows, cells)


def _belongs(book: Gradebook, number: int, column: Column, dialect: Dialect) -> bool:
    has_grades = any(not row.cells[number].is_empty for row in book.rows)
    return has_grades and (dialect is not Dialect.BLACKBOARD or Dialect.BLACKBOARD in column.ids)


def _is_findable(row: Row, dialect: Dialect) -> bool:
    match dialect:
        case Dialect.MOODLE:
            return bool(row.login or row.email or row.student_number)
        case Dialect.BLACKBOARD:
            return bool(row.login)
        case _:
            return True


def _write_plain(
    section: str, columns: Sequence[Column], rows: Sequence[Row], cells: Sequence[Sequence[Cell]]
) -> str:
    titles = [f"{column.title} ({say_points(column.maximum)})" for column in columns]
    lines = [["student_number", "name", "email", "section", *titles]]
    for row, graded in zip(rows, cells, strict=True):
        lines.append([row.student_number, row.name, row.email, section, *map(_show_cell, graded)])
    return _write_lines(lines, ",")


def _write_canvas(
    section: str, columns: Sequence[Column], rows: Sequence[Row], cells: Sequence[Sequence[Cell]]
) -> str:
    """The importer needs "Student" in the first cell, "ID" in the second and "Section" before the assignments."""
    lines = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *map(_title_for_canvas, columns)]]
    lines.append(["    Points Possible", "", "", "", "", *(say_points(column.maximum) for column in columns)])
    for row, graded in zip(rows, cells, strict=True):
        keys = [row.ids.get(Dialect.CANVAS, ""), row.student_number, row.login or row.email]
        lines.append([row.name, *keys, section, *map(_show_cell, graded)])
    return _write_lines(lines, ",")


def _title_for_canvas(column: Column) -> str:
    known = column.ids.get(Dialect.CANVAS)
    return f"{column.title} ({known})" if known else name_for_canvas(column.title)


def name_for_canvas(title: str) -> str:
    """The title of an assignment that Canvas is to make: a number in brackets at its end would be taken for an id."""
    return LOOKS_LIKE_ID.sub(r"[\1]", title)


def _write_moodle(
    section: str, columns: Sequence[Column], rows: Sequence[Row], cells: Sequence[Sequence[Cell]]
) -> str:
    """Any header will do: whoever imports says which column is the key. An excuse is no grade there."""
    lines = [["Username", "Email address", "ID number", "Full name", *(column.title for column in columns)]]
    for row, graded in zip(rows, cells, strict=True):
        points = ["" if cell.points is None or cell.is_excused else say_points(cell.points) for cell in graded]
        lines.append([row.login, row.email, row.student_number, row.name, *points])
    return _write_lines(lines, ",")


def _write_blackboard(
    section: str, columns: Sequence[Column], rows: Sequence[Row], cells: Sequence[Sequence[Cell]]
) -> str:
    """Separated by tabs, as its own download is; a column is found by the number behind its bar."""
    titles = [
        f"{column.title} [Total Pts: {say_points(column.maximum)} Score] |{column.ids[Dialect.BLACKBOARD]}"
        for column in columns
    ]
    lines = [["Name", "Username", "Student ID", *titles]]
    for row, graded in zip(rows, cells, strict=True):
        points = ["" if cell.points is None or cell.is_excused else say_points(cell.points) for cell in graded]
        lines.append([row.name, row.login, row.student_number, *points])
    return _write_lines(lines, "\t")


Table = Callable[[str, Sequence[Column], Sequence[Row], Sequence[Sequence[Cell]]], str]
TABLES: Mapping[Dialect, Table] = {
    Dialect.PLAIN: _write_plain,
    Dialect.CANVAS: _write_canvas,
    Dialect.MOODLE: _write_moodle,
    Dialect.BLACKBOARD: _write_blackboard,
}

NBGRADER_HEADER = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email", "raw_score",
    "late_submission_penalty", "score", "max_score",
)  # fmt: skip


def _write_nbgrader(book: Gradebook) -> str:
    """A line for each grade. There are no excuses in this format, and the whole name is the last one."""
    lines = [list(NBGRADER_HEADER)]
    for number, column in enumerate(book.columns):
        for row in book.rows:
            cell = row.cells[number]
            if cell.points is None or cell.is_excused:
                continue
            raw = cell.points if cell.raw_points is None else cell.raw_points
            who = [row.student_number or row.login or row.email, row.name, "", row.email]
            penalty = max(0.0, raw - cell.points)
            scores = [say_points(number) for number in (raw, penalty, cell.points, column.maximum)]
            lines.append([column.title, _stamp(column.due_at), _stamp(cell.handed_in_at), *who, *scores])
    return _write_lines(lines, ",")


def _stamp(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M:%S}"


def _write_json(book: Gradebook) -> str:
    """Everything, also columns without grades; `points` is null where there is no grade yet."""
    assignments = [
        {
            "id": column.id,
            "title": column.title,
            "maximum": column.maximum,
            "due_at": column.due_at.isoformat() if column.due_at else None,
        }
        for column in book.columns
    ]
    people = [
        {
            "name": row.name,
            "email": row.email,
            "student_number": row.student_number,
            "login": row.login,
            "grades": [
                {
                    "assignment": column.id,
                    "points": None if cell.points is None else float(say_points(cell.points)),
                    "excused": cell.is_excused,
                    "why": cell.sentence,
                }
                for column, cell in zip(book.columns, row.cells, strict=True)
            ],
        }
        for row in book.rows
    ]
    document = {"section": book.section, "assignments": assignments, "people": people}
    return json.dumps(document, ensure_ascii=False, indent=1)


def _show_cell(cell: Cell) -> str:
    if cell.is_excused:
        return EXCUSED
    return "" if cell.points is None else say_points(cell.points)


def defuse(text: str) -> str:
    """A text that no spreadsheet runs as a formula: one that would be gets an apostrophe before it."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def _write_lines(lines: Iterable[Sequence[str]], delimiter: str) -> str:
    """Grades and other numbers never begin like a formula, because no grade is negative."""
    file = StringIO(newline="")
    csv.writer(file, delimiter=delimiter, lineterminator="\r\n").writerows([map(defuse, line) for line in lines])
    return file.getvalue()

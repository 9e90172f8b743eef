"""The gradebook's files, read back by a reader of CSV as an importer would read them."""

import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.learning.grade_sentences import say_points
from app.learning.gradebook_csv import (
    FORMULA_STARTS,
    NBGRADER_HEADER,
    Cell,
    Column,
    Dialect,
    Gradebook,
    LeftOut,
    Row,
    defuse,
    find_left_out,
    write_download,
)

DUE = datetime(2026, 12, 4, 17, tzinfo=UTC)
PASSED = Cell(points=9.0, raw_points=10.0, handed_in_at=datetime(2026, 12, 5, 8, tzinfo=UTC), sentence="one day late")
NOTHING = Cell()
EX = Cell(is_excused=True)

VJP = Column("a1", "Write a VJP", 10, DUE, {"canvas": "7001", "blackboard": "_55_1"})
HOOKS = Column("a2", "Hooks (2026)", 5)
LATER = Column("a3", "Not yet open", 3, ids={"canvas": "7003", "blackboard": "_57_1"})
ADA = Row("Ada Quill", "ada@school.example", "0042", "aquill", (PASSED, Cell(points=2.5), NOTHING), {"canvas": "88"})
BEA = Row("Bea, née Marsh", "bea@school.example", "0043", "", (EX, NOTHING, NOTHING))
BOOK = Gradebook("ML 101", (VJP, HOOKS, LATER), (ADA, BEA))


def read(dialect: Dialect, book: Gradebook = BOOK) -> list[list[str]]:
    text = write_download(book, dialect)
    return list(csv.reader(io.StringIO(text, newline=""), delimiter="\t" if dialect is Dialect.BLACKBOARD else ","))


def test_the_plain_file_has_the_school_s_number_and_the_maximum_of_each_assignment() -> None:
    assert read(Dialect.PLAIN) == [
        ["student_number", "name", "email", "section", "Write a VJP (10)", "Hooks (2026) (5)"],
        ["0042", "Ada Quill", "ada@school.example", "ML 101", "9", "2.5"],
        ["0043", "Bea, née Marsh", "bea@school.example", "ML 101", "EX", ""],
    ]


def test_canvas_finds_people_and_assignments_by_the_numbers_that_it_gave_them() -> None:
    assert read(Dialect.CANVAS) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Write a VJP (7001)", "Hooks [2026]"],
        ["    Points Possible", "", "", "", "", "10", "5"],
        ["Ada Quill", "88", "0042", "aquill", "ML 101", "9", "2.5"],
        ["Bea, née Marsh", "", "0043", "bea@school.example", "ML 101", "EX", ""],
    ]


def test_moodle_gets_no_person_whom_it_could_not_find_and_no_excuse() -> None:
    nobody = replace(ADA, name="Nobody's number", email="", student_number="", login="")
    book = replace(BOOK, rows=(ADA, BEA, nobody))

    assert read(Dialect.MOODLE, book) == [
        ["Username", "Email address", "ID number", "Full name", "Write a VJP", "Hooks (2026)"],
        ["aquill", "ada@school.example", "0042", "Ada Quill", "9", "2.5"],
        ["", "bea@school.example", "0043", "Bea, née Marsh", "", ""],
    ]
    assert find_left_out(book, Dialect.MOODLE).people == ("Nobody's number",)


def test_blackboard_gets_only_the_columns_that_it_has_and_people_with_a_name_there() -> None:
    assert read(Dialect.BLACKBOARD) == [
        ["Name", "Username", "Student ID", "Write a VJP [Total Pts: 10 Score] |_55_1"],
        ["Ada Quill", "aquill", "0042", "9"],
    ]
    left_out = find_left_out(BOOK, Dialect.BLACKBOARD)
    assert left_out == LeftOut(("Hooks (2026)", "Not yet open"), ("Bea, née Marsh",))


def test_nbgrader_s_file_has_a_line_for_each_grade_with_the_late_penalty() -> None:
    who = ["0042", "Ada Quill", "", "ada@school.example"]
    assert read(Dialect.NBGRADER) == [
        list(NBGRADER_HEADER),
        ["Write a VJP", "2026-12-04 17:00:00", "2026-12-05 08:00:00", *who, "10", "1", "9", "10"],
        ["Hooks (2026)", "", "", *who, "2.5", "0", "2.5", "5"],
    ]


def test_json_has_everything_and_null_where_there_is_no_grade_yet() -> None:
    document = json.loads(write_download(BOOK, Dialect.JSON))

    assert [one["title"] for one in document["assignments"]] == ["Write a VJP", "Hooks (2026)", "Not yet open"]
    assert document["people"][0]["grades"] == [
        {"assignment": "a1", "points": 9.0, "excused": False, "why": "one day late"},
        {"assignment": "a2", "points": 2.5, "excused": False, "why": ""},
        {"assignment": "a3", "points": None, "excused": False, "why": ""},
    ]
    assert document["people"][1]["grades"][0] == {"assignment": "a1", "points": None, "excused": True, "why": ""}


@pytest.mark.parametrize("dialect", [Dialect.PLAIN, Dialect.CANVAS, Dialect.MOODLE])
def test_a_column_in_which_nobody_has_a_grade_is_left_out_and_named(dialect: Dialect) -> None:
    assert find_left_out(BOOK, dialect).columns == ("Not yet open",)


def test_points_have_two_decimals_at_most() -> None:
    third = replace(ADA, cells=(Cell(points=100 / 3), Cell(points=0.0), Cell(points=1e6)))

    assert read(Dialect.PLAIN, replace(BOOK, rows=(third,)))[1][4:] == ["33.33", "0", "1000000"]


TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=12)
CELLS = st.one_of(
    st.just(NOTHING), st.just(EX), st.builds(Cell, points=st.floats(min_value=0, max_value=1000, allow_nan=False))
)
ROWS = st.builds(Row, TEXTS, TEXTS, TEXTS, TEXTS, st.tuples(CELLS, CELLS, CELLS))
BOOKS = st.builds(
    Gradebook, TEXTS, st.just((VJP, replace(HOOKS, title="=cmd()"), LATER)), st.lists(ROWS, max_size=4).map(tuple)
)


@given(BOOKS, st.sampled_from([dialect for dialect in Dialect if dialect is not Dialect.JSON]))
def test_whatever_people_are_called_the_table_stays_a_table_without_formulas(
    book: Gradebook, dialect: Dialect
) -> None:
    lines = read(dialect, book)

    assert {len(line) for line in lines} == {len(lines[0])}
    assert [cell for line in lines for cell in line if cell.startswith(FORMULA_STARTS)] == []


@given(BOOKS)
def test_names_and_points_are_read_back_as_they_were(book: Gradebook) -> None:
    _, *lines = read(Dialect.PLAIN, book)

    kept = [number for number in range(3) if any(not row.cells[number].is_empty for row in book.rows)]
    assert [line[1] for line in lines] == [defuse(row.name) for row in book.rows]
    for line, row in zip(lines, book.rows, strict=True):
        for shown, number in zip(line[4:], kept, strict=True):
            cell = row.cells[number]
            assert shown == ("EX" if cell.is_excused else "" if cell.points is None else say_points(cell.points))


@given(TEXTS)
def test_a_text_that_is_no_formula_is_left_alone(text: str) -> None:
    assert defuse(text) in (text, f"'{text}")
    assert (defuse(text) == text) is not text.startswith(FORMULA_STARTS)

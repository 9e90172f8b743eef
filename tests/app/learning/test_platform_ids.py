"""The ids in a platform's own file of grades, and whose they are here."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.learning.gradebook_csv import Cell, Column, Dialect, Gradebook, Row, write_download
from app.learning.platform_ids import (
    MAX_BYTES,
    Known,
    PlatformColumn,
    PlatformPerson,
    UnreadableFile,
    match_columns,
    match_people,
    read_platform_file,
)

CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Write a VJP (7001),Week 3 [2026] (7002),Current Score\n"
    ",,,,,Manual Posting,,\n"
    "    Points Possible,,,,,10,5,(read only)\n"
    '"Quill, Ada",88,0042,aquill,ML 101,,,\n'
    '"Student, Test",99,,,ML 101,,,\n'
)


def test_canvas_s_export_names_people_and_assignments_by_its_ids() -> None:
    found = read_platform_file(CANVAS.encode())

    assert found.dialect is Dialect.CANVAS
    assert found.people == (
        PlatformPerson("88", "Quill, Ada", "0042", "aquill"),
        PlatformPerson("99", "Student, Test", "", ""),
    )
    assert found.columns == (PlatformColumn("7001", "Write a VJP"), PlatformColumn("7002", "Week 3 [2026]"))


def test_blackboard_s_download_is_utf_16_with_tabs_and_has_ids_of_columns_alone() -> None:
    text = (
        '"Last Name"\t"Username"\t"Write a VJP [Total Pts: 10 Score] |12345"\t"Availability"\n"Quill"\t"aquill"\t""\n'
    )

    found = read_platform_file(text.encode("utf-16"))

    assert (found.dialect, found.people) == (Dialect.BLACKBOARD, ())
    assert found.columns == (PlatformColumn("12345", "Write a VJP"),)


def test_what_is_written_for_canvas_is_found_again_in_what_it_exports() -> None:
    """A title that ends like an id is one that the importer must not take for one."""
    column = Column("a1", "Week 3 (2026)", 5)
    book = Gradebook("ML 101", (column,), (Row("Ada", "", "", "", (Cell(points=1),)),))
    written = write_download(book, Dialect.CANVAS)
    exported = written.replace("Week 3 [2026]", "Week 3 [2026] (7002)")

    found = read_platform_file(exported.encode())

    assert match_columns(found.columns, [Known("a1", column.title)]).ids == {"a1": "7002"}


def test_people_are_found_by_number_then_login_then_a_name_that_only_one_has() -> None:
    known = [
        Known("r1", "Ada Quill", student_number="0042"),
        Known("r2", "Bea Marsh", login="bmarsh", email="bea@school.example"),
        Known("r3", "Cy Reed"),
        Known("r4", "Sam Twin"),
        Known("r5", "Sam Twin"),
    ]
    people = [
        PlatformPerson("1", "Another Name", "0042", ""),
        PlatformPerson("2", "Marsh, B.", "", "BEA@school.example"),
        PlatformPerson("3", "reed, cy", "", ""),
        PlatformPerson("4", "Twin, Sam", "", ""),
        PlatformPerson("5", "Nobody Here", "", ""),
    ]

    found = match_people(people, known)

    assert found.ids == {"r1": "1", "r2": "2", "r3": "3"}
    assert found.unmatched == ("Twin, Sam", "Nobody Here")


def test_two_in_the_file_with_one_name_are_nobody() -> None:
    people = [PlatformPerson("1", "Reed, Cy", "", ""), PlatformPerson("2", "Reed, Cy", "", "")]

    assert match_people(people, [Known("r3", "Cy Reed")]).ids == {}


def test_a_namesake_with_another_number_or_login_is_somebody_else() -> None:
    """Or else the grades of one would be uploaded as those of the other."""
    known = [
        Known("r1", "Ada Quill", student_number="0042"),
        Known("r2", "Bea Marsh", student_number="0043", login="bmarsh"),
        Known("r3", "Cy Reed", login="creed"),
    ]
    people = [
        PlatformPerson("1", "Quill, Ada", "0999", ""),
        PlatformPerson("2", "Marsh, Bea", "0998", "bmarsh"),
        PlatformPerson("3", "Reed, Cy", "", "cyreed"),
    ]

    assert match_people(people, known).ids == {}


def test_a_title_that_two_assignments_have_is_left_to_the_instructor() -> None:
    found = match_columns([PlatformColumn("7", "Hooks")], [Known("a1", "Hooks"), Known("a2", "hooks ")])

    assert (found.ids, found.unmatched) == ({}, ("Hooks",))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"name,points\nAda,3\n", "begins with 'name'"),
        (b"x" * (MAX_BYTES + 1), "more than 200 KiB"),
        (b"Student,ID\n" + b"a,1\n" * 6000, "more than 5000 lines"),
    ],
)
def test_another_file_is_refused_in_words(content: bytes, says: str) -> None:
    with pytest.raises(UnreadableFile, match=says):
        read_platform_file(content)


@given(st.binary(max_size=200))
def test_no_file_breaks_the_reader(content: bytes) -> None:
    for start in (b"", b"Student,ID\n", b"\xff\xfe", b"a |1\n"):
        with contextlib.suppress(UnreadableFile):
            read_platform_file(start + content)

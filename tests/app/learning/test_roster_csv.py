"""Lists of people as schools export them are read, whatever wrote them; what is no list is refused in words."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.learning.roster import Entry
from app.learning.roster_csv import MAX_BYTES, MAX_CHARACTERS, MAX_PEOPLE, BadRoster, clean, read_roster, write_roster

ADA = Entry("Ada Lovelace", "ada@uni.example", "12", "ada")

PLAIN = "student_number,name,email,login\n12,Ada Lovelace,ada@uni.example,ada\n"
CANVAS = (
    'Student,ID,SIS User ID,SIS Login ID,Section,"ReLU (17)"\n'
    "    Points Possible,,,,,10\n"
    '"Lovelace, Ada",901,12,ada,Spring,9.5\n'
    '"Student, Test",902,,x,Spring,\n'
)
MOODLE = "First name;Surname;Username;ID number;Email address\nAda;Lovelace;ada;12;ada@uni.example\n"
BLACKBOARD = "Last Name\tFirst Name\tUsername\tStudent ID\tLast Access\nLovelace\tAda\tada\t12\t2026-01-01\n"


@pytest.mark.parametrize(
    ("text", "entry", "described"),
    [
        (PLAIN, ADA, "commas"),
        (CANVAS, Entry("Ada Lovelace", "", "12", "ada", {"canvas": "901"}), "commas"),
        (MOODLE, ADA, "semicolons"),
        (BLACKBOARD, Entry("Ada Lovelace", "", "12", "ada"), "tabs"),
    ],
    ids=["plain", "canvas", "moodle", "blackboard"],
)
@pytest.mark.parametrize(
    ("encoding", "named"),
    [("utf-8", "UTF-8"), ("utf-8-sig", "UTF-8"), ("utf-16", "UTF-16"), ("utf-16-le", "UTF-16"), ("cp1252", "")],
)
def test_each_dialect_is_read_in_each_encoding(
    text: str, entry: Entry, described: str, encoding: str, named: str
) -> None:
    found = read_roster(text.replace("\n", "\r\n").encode(encoding))

    assert found.entries == (entry,)
    assert described in found.described
    assert named in found.described


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be", "cp1252"])
def test_letters_of_other_languages_arrive(encoding: str) -> None:
    (entry,) = read_roster("name,email\nZoë Müller-Štěpánek,z@x\n".replace("ě", "e").encode(encoding)).entries

    assert entry.name == "Zoë Müller-Štepánek"


def test_a_spreadsheet_s_own_first_line_and_blank_lines_are_passed_over() -> None:
    found = read_roster(b"sep=;\nName;Login\n\nAda;ada\n;;\n")

    assert found.entries == (Entry("Ada", login="ada"),)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "names no column that we know"),
        (b"name\n", "no people"),
        (b"a,b\n1,2\n", "names no column that we know"),
        (b"PK\x03\x04rest", "is a workbook"),
        (b"name\n\x81\x8d", "save it as CSV in UTF-8"),
        (b"\xff\xfen", "save it as CSV in UTF-8"),
        (b"name,email\nAda,\n,,\n ,\x20\n,x@y\n" + b"\n,,z\n", "Line 7 has no name"),
        (b'name,email\n"Ada,x\n', "Line 2: "),
        (b"name\n" + b"x" * (MAX_CHARACTERS["name"] + 1), "the name has 121 characters; shorten it"),
        (b"name\n" + b"x" * MAX_BYTES, "at most 200 KiB"),
        (b"name\n" + b"x\n" * (MAX_PEOPLE + 1), "5001 people"),
        (b"name\n" + b"x\n" * (MAX_PEOPLE + 200), "more than 5000 lines"),
    ],
)
def test_what_is_no_list_is_refused_with_the_line_and_the_next_step(data: bytes, said: str) -> None:
    with pytest.raises(BadRoster, match=said):
        read_roster(data)


def test_marks_against_formulas_and_invisible_characters_go() -> None:
    assert clean(" '=1+1\u202e\u200b  x\x07\n y") == "=1+1 x y"
    assert read_roster(b"name\n'-Ada").entries == (Entry("-Ada"),)


def test_a_name_with_a_comma_is_turned_round_in_canvas_s_own_files_alone() -> None:
    """Also when the preview passes it on, or else what is stored is not what was shown."""
    plain = read_roster(b'name,email\n"Smith, John",j@x.example').entries
    canvas = read_roster(b'Student,ID\n"Lovelace, Ada",88').entries

    assert [one.name for one in (*plain, *canvas)] == ["Smith, John", "Ada Lovelace"]
    assert read_roster(write_roster((*plain, *canvas)).encode()).entries == (*plain, *canvas)


CELLS = st.text(max_size=20).map(clean)
ENTRIES = st.builds(
    Entry,
    name=CELLS.filter(bool),
    email=CELLS,
    student_number=CELLS,
    login=CELLS,
    platform_ids=st.just({}) | CELLS.filter(bool).map(lambda text: {"canvas": text}),
)


@given(st.lists(ENTRIES, min_size=1, max_size=5))
def test_what_the_preview_passes_on_is_read_as_it_was(entries: list[Entry]) -> None:
    found = read_roster(write_roster(entries).encode()).entries

    kept = [one for one in entries if clean(one.name) == one.name]
    assert [one for one in found if one in kept] == kept


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused_in_words(data: bytes) -> None:
    with contextlib.suppress(BadRoster):
        assert all(entry.name for entry in read_roster(b"name,email\n" + data).entries)

"""Reads a platform's own file of grades for the ids that it gave to people and assignments, and finds whose they are.

Canvas makes a new assignment for a title without its id, and Blackboard ignores such a column, so a gradebook that is
to go there needs these ids. Nothing else of the file is kept. Pure.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO

from app.learning.gradebook_csv import Dialect, name_for_canvas

MAX_BYTES = 200 * 1024
"""Of a file; the site takes no longer request than 256 KiB."""
MAX_LINES = 5000
CANVAS_COLUMN = re.compile(r"^(?P<title>.*\S)\s*\((?P<id>\d+)\)\s*$", re.DOTALL)
BLACKBOARD_COLUMN = re.compile(r"^(?P<title>.*?)(?:\s*\[Total Pts:[^\]]*\])?\s*\|(?P<id>\S+)\s*$", re.DOTALL)
BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class UnreadableFile(Exception):
    """The file is not one of these. The message is a sentence for whoever uploaded it."""


@dataclass(frozen=True)
class PlatformPerson:
    """A line of the file. Empty: the file does not say."""

    id: str
    name: str
    student_number: str
    login: str


@dataclass(frozen=True)
class PlatformColumn:
    id: str
    title: str


@dataclass(frozen=True)
class PlatformFile:
    dialect: Dialect
    people: tuple[PlatformPerson, ...]
    columns: tuple[PlatformColumn, ...]


@dataclass(frozen=True)
class Known:
    """Somebody or something here that a line of the file may be about: an id here, and what the school calls it."""

    id: str
    name: str
    student_number: str = ""
    login: str = ""
    email: str = ""


@dataclass(frozen=True)
class Matched:
    """Ids of the platform by ids here, and the names in the file that fit nothing here, or more than one."""

    ids: Mapping[str, str]
    unmatched: tuple[str, ...]


def read_platform_file(content: bytes) -> PlatformFile:
    """Canvas's or Blackboard's own file of grades. Raises UnreadableFile."""
    if len(content) > MAX_BYTES:
        raise UnreadableFile(
            f"The file has more than {MAX_BYTES // 1024} KiB; delete the columns of grades that are not from here, "
            "and send the rest."
        )
    lines = _read_lines(decode_table(content))
    if not lines:
        raise UnreadableFile("The file is empty; send the one that Canvas or Blackboard exports.")
    header = [cell.strip() for cell in lines[0]]
    if len(header) > 1 and "Student" in header[0] and "ID" in header[1]:
        return _read_canvas(header, lines[1:])
    if any(BLACKBOARD_COLUMN.match(cell) for cell in header):
        return _read_blackboard(header)
    raise UnreadableFile(
        f"The first line begins with {header[0][:40]!r}, which is neither Canvas's gradebook (Student, ID, ...) nor "
        "Blackboard's (columns that end in | and a number); send the file as the platform exported it."
    )


def decode_table(content: bytes) -> str:
    """The text of a file: UTF-8 or UTF-16 with a mark, UTF-8, or else Windows' western encoding."""
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if content.startswith(mark):
            return content.decode(encoding, errors="replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def _read_lines(text: str) -> list[list[str]]:
    first = text.partition("\n")[0]
    delimiter = max("\t;,", key=first.count)
    reader = csv.reader(StringIO(text.replace("\0", ""), newline=""), delimiter=delimiter)
    lines: list[list[str]] = []
    try:
        for line in reader:
            if any(cell.strip() for cell in line):
                lines.append(line)
            if len(lines) > MAX_LINES:
                raise UnreadableFile(f"The file has more than {MAX_LINES} lines; send the gradebook of one class.")
    except csv.Error as error:
        raise UnreadableFile(
            f"Line {reader.line_num} is no line of a table ({error}); export the file again."
        ) from None
    return lines


def _read_canvas(header: Sequence[str], lines: Iterable[Sequence[str]]) -> PlatformFile:
    places = {name: header.index(name) for name in ("SIS User ID", "SIS Login ID") if name in header}
    people = []
    for line in lines:
        cells = {name: line[place].strip() for name, place in places.items() if place < len(line)}
        number = line[1].strip() if len(line) > 1 else ""
        if number.isascii() and number.isdigit():
            number_there, login = cells.get("SIS User ID", ""), cells.get("SIS Login ID", "")
            people.append(PlatformPerson(number, line[0].strip(), number_there, login))
    found = [CANVAS_COLUMN.match(cell) for cell in header[2:]]
    return PlatformFile(Dialect.CANVAS, tuple(people), _columns(found))


def _read_blackboard(header: Sequence[str]) -> PlatformFile:
    """Blackboard finds people by their login, so that its file has no ids of theirs."""
    return PlatformFile(Dialect.BLACKBOARD, (), _columns(BLACKBOARD_COLUMN.match(cell) for cell in header))


def _columns(found: Iterable[re.Match[str] | None]) -> tuple[PlatformColumn, ...]:
    return tuple(PlatformColumn(one["id"], one["title"].strip()) for one in found if one and len(one["id"]) <= 64)


def match_columns(columns: Sequence[PlatformColumn], known: Sequence[Known]) -> Matched:
    """By a title that one assignment has on both sides."""
    titles = Counter(_key_of_title(column.title) for column in columns)
    by_title = _only_ones((_key_of_title(one.name), one.id) for one in known)
    ids, unmatched = {}, []
    for column in columns:
        key = _key_of_title(column.title)
        if titles[key] == 1 and key in by_title:
            ids[by_title[key]] = column.id
        else:
            unmatched.append(column.title)
    return Matched(ids, tuple(unmatched))


def match_people(people: Sequence[PlatformPerson], known: Sequence[Known]) -> Matched:
    """By the school's number, else by the login, else by a name that is one person's on both sides.

    A namesake with another number or login is somebody else.
    """
    ids: dict[str, str] = {}
    unmatched = []
    by_number = _only_ones((one.student_number, one.id) for one in known)
    by_login = _only_ones((login, one.id) for one in known for login in {one.login, one.email})
    by_name = _only_ones((_key_of_person(one.name), one.id) for one in known)
    names, by_id = Counter(_key_of_person(person.name) for person in people), {one.id: one for one in known}
    for person in people:
        key = _key_of_person(person.name)
        name = by_name.get(key) if names[key] == 1 else None
        weaker = (by_login.get(_key(person.login)), name)
        found = by_number.get(_key(person.student_number)) or next(
            (one for one in weaker if one is not None and not _is_another(person, by_id[one])), None
        )
        if found is None or found in ids:
            unmatched.append(person.name)
        else:
            ids[found] = person.id
    return Matched(ids, tuple(unmatched))


def _is_another(person: PlatformPerson, here: Known) -> bool:
    """Whether the strongest that both sides know says that they are two people."""
    if person.student_number and here.student_number:
        return _key(person.student_number) != _key(here.student_number)
    logins = {_key(here.login), _key(here.email)} - {""}
    return bool(person.login and here.login) and _key(person.login) not in logins


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()


def _key_of_title(title: str) -> str:
    """A title is written to Canvas with another kind of brackets around a number at its end."""
    return _key(name_for_canvas(title))


def _key_of_person(name: str) -> str:
    """ "Quill, Ada" and "Ada Quill" are one name."""
    last, comma, first = name.partition(",")
    return _key(f"{first} {last}") if comma else _key(name)


def _only_ones(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """By key, what has it alone. An empty key is none."""
    found: dict[str, set[str]] = {}
    for text, one in pairs:
        found.setdefault(_key(text), set()).add(one)
    return {key: next(iter(ones)) for key, ones in found.items() if key and len(ones) == 1}

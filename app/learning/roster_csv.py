"""A school's list of people as a file: our own, Canvas's, Moodle's or Blackboard's, in whatever encoding. Pure."""

import csv
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO

from app.learning.roster import Entry

MAX_BYTES = 200 * 1024
"""Of a file; the site takes no longer request than 256 KiB."""
MAX_PEOPLE = 5000
MAX_CHARACTERS = {"name": 120, "email": 254, "student_number": 64, "login": 120, "canvas": 64}
DELIMITERS = (",", ";", "\t")
CANVAS = "canvas"
COLUMNS: Mapping[str, str] = {
    "name": "name",
    "student": "name",
    "studentname": "name",
    "fullname": "name",
    "displayname": "name",
    "firstname": "first",
    "givenname": "first",
    "forename": "first",
    "vorname": "first",
    "lastname": "last",
    "surname": "last",
    "familyname": "last",
    "nachname": "last",
    "email": "email",
    "emailaddress": "email",
    "mail": "email",
    "studentnumber": "student_number",
    "studentid": "student_number",
    "sisuserid": "student_number",
    "idnumber": "student_number",
    "matriculationnumber": "student_number",
    "matrikelnummer": "student_number",
    "login": "login",
    "loginid": "login",
    "sisloginid": "login",
    "username": "login",
    "canvasid": CANVAS,
}
"""A column's heading in small letters and without signs -> what stands in it."""
WRITTEN = ("name", "email", "student_number", "login", "canvas_id")
DEFUSED = re.compile(r"^'+(?=[=+\-@\t\r])")
"""What a program that writes CSV puts before a cell that a spreadsheet would run."""
NO_PEOPLE = re.compile(r"points possible|student, ?test|test ?student", re.IGNORECASE)
"""Rows of Canvas's export that are no people."""


class BadRoster(Exception):
    """The file cannot be read as a list of people. The message is a sentence for the instructor."""


@dataclass(frozen=True)
class RosterFile:
    """`described` says how the file was read: its encoding and its delimiter."""

    entries: tuple[Entry, ...]
    described: str


def read_roster(data: bytes) -> RosterFile:
    """Raises BadRoster, which names the first line that is wrong."""
    if len(data) > MAX_BYTES:
        raise BadRoster(f"The file has {len(data) // 1024} KiB; send one of at most {MAX_BYTES // 1024} KiB.")
    text, encoding = _decode(data)
    rows, delimiter, columns = _split(text)
    entries = tuple(entry for number, row in rows if (entry := _read_row(number, row, columns)) is not None)
    if not entries:
        raise BadRoster("The file has a heading and no people; export it again from a course with people in it.")
    if len(entries) > MAX_PEOPLE:
        raise BadRoster(f"The file has {len(entries)} people; send them in parts of at most {MAX_PEOPLE}.")
    name = {",": "commas", ";": "semicolons", "\t": "tabs"}[delimiter]
    return RosterFile(entries, f"{encoding}, with {name} between the columns")


def write_roster(entries: Sequence[Entry]) -> str:
    """The entries as a text that `read_roster` reads as the same entries."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(WRITTEN)
    for one in entries:
        writer.writerow([one.name, one.email, one.student_number, one.login, one.platform_ids.get(CANVAS, "")])
    return text.getvalue()


def _decode(data: bytes) -> tuple[str, str]:
    if data.startswith(b"PK"):
        raise BadRoster("This is a workbook or an archive; save it as CSV (comma delimited), and send that.")
    for mark, encoding in ((b"\xef\xbb\xbf", "UTF-8"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16")):
        if data.startswith(mark):
            return _decode_as(data, "utf-8-sig" if encoding == "UTF-8" else "utf-16"), encoding
    if b"\0" in data:
        return _decode_as(data, "utf-16-le" if data[1:2] == b"\0" else "utf-16-be"), "UTF-16"
    try:
        return data.decode("utf-8"), "UTF-8"
    except UnicodeDecodeError:
        return _decode_as(data, "cp1252"), "Windows-1252"


def _decode_as(data: bytes, codec: str) -> str:
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        raise BadRoster("The file is no text that we can read; save it as CSV in UTF-8, and send that.") from None
    if "\0" in text:
        raise BadRoster("The file has zero bytes, so it is no text; save it as CSV in UTF-8, and send that.")
    return text


Row = tuple[int, list[str]]
"""The number of the line on which it ends, and its cells."""


def _split(text: str) -> tuple[list[Row], str, dict[int, str]]:
    """The rows after the heading, and what stands in which column. The delimiter is the one that knows most."""
    best: tuple[int, str] = (0, ",")
    first, _, rest = text.partition("\n")
    text = rest if first.strip().lower().startswith("sep=") else text
    for delimiter in DELIMITERS:
        heading = next(csv.reader([text.lstrip("\r\n").partition("\n")[0]], delimiter=delimiter), [])
        best = max(best, (len(_find_columns(heading)), delimiter), key=lambda one: one[0])
    count, delimiter = best
    rows = _read_csv(text, delimiter)
    rows = [row for row in rows if any(cell.strip() for cell in row[1])]
    columns = _find_columns(rows[0][1]) if count else {}
    if not {"name", "last", "email", "login"} & set(columns.values()):
        known = "name, first name, last name, email, student number, login"
        raise BadRoster(f"The first line names no column that we know; it needs some of: {known}.")
    return rows[1:], delimiter, columns


def _read_csv(text: str, delimiter: str) -> list[Row]:
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    try:
        for row in reader:
            rows.append((reader.line_num, row))
            if len(rows) > MAX_PEOPLE + 100:
                raise BadRoster(f"The file has more than {MAX_PEOPLE} lines; send it in parts.")
    except csv.Error as problem:
        raise BadRoster(f"Line {reader.line_num}: {problem}; check its quotation marks.") from None
    return rows


def _find_columns(heading: Sequence[str]) -> dict[int, str]:
    """Column -> what stands in it. Canvas's own id is called "ID", beside "Student"."""
    keys = ["".join(letter for letter in cell.casefold() if letter.isalnum()) for cell in heading]
    found: dict[int, str] = {}
    for number, key in enumerate(keys):
        name = COLUMNS.get(key, "")
        if key == "id":
            name = CANVAS if "student" in keys else "student_number"
        if name and name not in found.values():
            found[number] = name
    return found


def _read_row(number: int, row: Sequence[str], columns: Mapping[int, str]) -> Entry | None:
    """Raises BadRoster. None for a row that is no person."""
    if NO_PEOPLE.fullmatch(" ".join(row[0].split()) if row else ""):
        return None
    cells = {name: clean(row[column]) for column, name in columns.items() if column < len(row)}
    name = _read_name(cells) or cells.get("email", "") or cells.get("login", "")
    if not name:
        raise BadRoster(f"Line {number} has no name; write one, or delete the line.")
    values = {"name": name, **{key: cells.get(key, "") for key in ("email", "student_number", "login", CANVAS)}}
    for key, value in values.items():
        if len(value) > (most := MAX_CHARACTERS[key]):
            word = key.replace("_", " ")
            raise BadRoster(f"Line {number}: the {word} has {len(value)} characters; shorten it to at most {most}.")
    ids = {CANVAS: values[CANVAS]} if values[CANVAS] else {}
    return Entry(name, values["email"], values["student_number"], values["login"], ids)


def _read_name(cells: Mapping[str, str]) -> str:
    """Canvas writes "Lovelace, Ada"."""
    name = cells.get("name", "")
    if not name:
        return " ".join(part for part in (cells.get("first", ""), cells.get("last", "")) if part)
    last, comma, first = name.partition(", ")
    # Our own files have a column for Canvas's ids too, but it is empty where the names did not come from Canvas.
    return f"{first} {last}" if comma and first and "," not in first and cells.get(CANVAS) else name


def clean(cell: str) -> str:
    """The cell as people read it: no invisible characters, single spaces, and no mark against formulas."""
    text = unicodedata.normalize("NFC", cell)
    seen = "".join(letter if letter.isprintable() else " " if letter.isspace() else "" for letter in text)
    return DEFUSED.sub("", " ".join(seen.split()))

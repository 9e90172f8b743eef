"""Whom a school's file names in a section, against the lines that the section has already. Pure.

Two lines are compared by the strongest thing that both have: the student number, a platform's id, the login, the
address of mail; by their names only where they have none of these in common. This says who is the same line of a
school's list, and never whose account it is.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum

FIELD_WORDS = {"name": "name", "email": "e-mail", "student_number": "number", "login": "login", "platform_ids": "id"}


class State(StrEnum):
    """What a line of the file means for the section."""

    NEW = "new"
    UNCHANGED = "unchanged"
    CHANGED = "changed"
    BACK = "comes back"
    TWICE = "twice in the file"
    UNCLEAR = "fits several people"


@dataclass(frozen=True)
class Entry:
    """A person as the school names them. What is not known is empty. `platform_ids`: by the platform's name."""

    name: str
    email: str = ""
    student_number: str = ""
    login: str = ""
    platform_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class KnownLine:
    """A line that the section has. `is_here` is false once the person was dropped."""

    id: str
    entry: Entry
    is_here: bool = True
    from_file: bool = True
    """Whether a file made the line; others are never missing from one."""


@dataclass(frozen=True)
class Compared:
    """A line of the file. `line` is the id of the section's line, empty for a new one; `entry` what it will say."""

    entry: Entry
    state: State
    line: str = ""
    changes: str = ""
    elsewhere: str = ""
    """The title of another section of the same teacher whose roster has the person."""


@dataclass(frozen=True)
class Comparison:
    """`missing` are the people of earlier files whom this one does not name."""

    rows: tuple[Compared, ...]
    missing: tuple[KnownLine, ...]

    def count(self, state: State) -> int:
        return sum(row.state is state for row in self.rows)


def fold(text: str) -> str:
    """What is compared: Peter and PETER are one name."""
    return unicodedata.normalize("NFKC", " ".join(text.split()).casefold())


def _keys(entry: Entry) -> list[tuple[str, str]]:
    """What identifies the person, the strongest first; the name is not among them."""
    ids = [(f"id {platform}", value) for platform, value in sorted(entry.platform_ids.items())]
    strings = [("number", entry.student_number), *ids, ("login", entry.login), ("email", entry.email)]
    return [(kind, fold(value)) for kind, value in strings if value]


NAME = "name"


def _find_deciding(mine: Collection[str], theirs: Collection[str]) -> str:
    """By what two people are compared: the strongest kind that both have, or their names. `mine` is in order."""
    return next((kind for kind in mine if kind in theirs), NAME)


class _Index:
    """Finds the entries that are the same person, without comparing a large file with every line.

    The people of one value are kept by the kinds of values that they have, because these alone say whether this value
    decides. So a file in which everybody has the same name, or the same address, takes no longer than another.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], dict[frozenset[str], dict[str, None]]] = defaultdict(
            lambda: defaultdict(dict)
        )

    def add(self, label: str, entry: Entry) -> None:
        keys = _keys(entry)
        kinds = frozenset(kind for kind, _ in keys)
        for key in (*keys, (NAME, fold(entry.name))):
            self._found[key][kinds][label] = None

    def find_by_key(self, entry: Entry) -> list[str]:
        """The labels of the same person, each once, where both have a number, an id or an address."""
        return self._find(entry, _keys(entry))

    def find(self, entry: Entry) -> list[str]:
        return self._find(entry, [*_keys(entry), (NAME, fold(entry.name))])

    def _find(self, entry: Entry, keys: Iterable[tuple[str, str]]) -> list[str]:
        mine = [kind for kind, _ in _keys(entry)]
        found = (
            label
            for key in keys
            for theirs, labels in self._found.get(key, {}).items()
            if _find_deciding(mine, theirs) == key[0]
            for label in labels
        )
        return list(dict.fromkeys(found))


def compare(
    entries: Sequence[Entry], known: Sequence[KnownLine], elsewhere: Iterable[tuple[Entry, str]] = ()
) -> Comparison:
    """What each line of the file means. `elsewhere` are lines of other sections, with the section's title."""
    others, by_id = _Index(), {line.id: line for line in known}
    for entry, title in elsewhere:
        others.add(title, entry)
    rows: list[Compared] = []
    matched = _match(entries, known)
    for entry, found in zip(entries, matched, strict=True):
        if found is None:
            rows.append(Compared(entry, State.TWICE))
        elif len(found) > 1:
            rows.append(Compared(entry, State.UNCLEAR))
        else:
            rows.append(_compare_one(entry, by_id[found[0]] if found else None, others))
    named = {line for found in matched for line in found or ()}
    missing = tuple(line for line in known if line.is_here and line.from_file and line.id not in named)
    return Comparison(tuple(rows), missing)


def _match(entries: Sequence[Entry], known: Sequence[KnownLine]) -> list[list[str] | None]:
    """The ids of the lines that each entry fits. None for one that the file had before.

    Numbers come before names, or else a namesake early in the file would take the line of somebody later.
    """
    lines, in_file = _Index(), _Index()
    for line in known:
        lines.add(line.id, line.entry)
    matched: list[list[str] | None] = []
    taken: set[str] = set()
    for entry in entries:
        if in_file.find(entry):
            matched.append(None)
            continue
        in_file.add("file", entry)
        matched.append([line for line in lines.find_by_key(entry) if line not in taken])
        taken.update(matched[-1] or ())
    for number, entry in enumerate(entries):
        if matched[number] == []:
            found = [line for line in lines.find(entry) if line not in taken]
            matched[number] = found
            taken.update(found)
    return matched


def _compare_one(entry: Entry, line: KnownLine | None, others: _Index) -> Compared:
    if line is None:
        return Compared(entry, State.NEW, elsewhere=", ".join(others.find(entry)))
    merged = _merge(line.entry, entry)
    changes = ", ".join(
        word for name, word in FIELD_WORDS.items() if getattr(merged, name) != getattr(line.entry, name)
    )
    state = State.BACK if not line.is_here else State.CHANGED if changes else State.UNCHANGED
    return Compared(merged, state, line.id, changes)


def _merge(old: Entry, new: Entry) -> Entry:
    """What the file says, and what is known already where the file says nothing."""
    said = {one.name: getattr(new, one.name) for one in fields(new) if getattr(new, one.name)}
    return replace(old, **{**said, "platform_ids": {**old.platform_ids, **new.platform_ids}})

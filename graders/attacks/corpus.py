"""The recorded attacks, as data: the tests, the benches and `python -m graders attack` run the same ones."""

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

import yaml
from pydantic import Field, TypeAdapter

from graders.attacks.ends import Attacks
from graders.attacks.on_the_interpreter import ON_THE_INTERPRETER
from graders.attacks.on_the_judge import ON_THE_JUDGE
from graders.attacks.on_the_process import ON_THE_PROCESS
from graders.attacks.on_the_report import ON_THE_REPORT
from graders.attacks.on_torch import ON_TORCH
from graders.contract.model import Message
from graders.contract.results import Outcome

FILE: Final = Path(__file__).with_name("attacks.yaml")
ROOT: Final = Path(__file__).resolve().parents[2]
ESCAPED: Final = "ESCAPED"
"""What an attack prints if its attempt succeeded."""


class Kind(StrEnum):
    """Through what an attack comes in: a bare run of the box, a submission, or a free cell as a learner runs it."""

    BOX = "box"
    JUDGE = "judge"
    INTERPRETER = "interpreter"


class Group(StrEnum):
    """What an attack aims at."""

    CREDIT = "credit"
    FILESYSTEM = "filesystem"
    INFO_LEAK = "info-leak"
    KERNEL = "kernel"
    LANGUAGE = "language"
    NETWORK = "network"
    PERSISTENCE = "persistence"
    PROCESS = "process"
    PROTOCOL = "protocol"
    REPORT = "report"
    RESOURCE = "resource"
    STREAMS = "streams"
    TORCH = "torch"


class Recorded(Message):
    """What every attack has. A report names it by `id`, so an id is never given to another attack."""

    id: str = Field(pattern=r"^[A-Z]+[0-9]+[a-z]?$")
    kind: Kind
    group: Group
    title: str


class BoxAttack(Recorded):
    """A program for the box, which is not judged. `allowed` are the right ends, as `Ending.outcome` names them."""

    kind: Kind = Kind.BOX
    allowed: frozenset[str]
    code: str

    @property
    def needs_port(self) -> bool:
        return "PORT" in self.code

    @property
    def needs_torch(self) -> bool:
        return "torch" in self.code

    def write_program(self, port: int | None) -> str:
        """Its code for this host, where `port` listens."""
        return self.code.replace("PORT", str(port)).replace("REPOSITORY", str(ROOT))


class Forgery(Recorded):
    """A submission to the exercise in relu-vjp/. `allowed` are the right outcomes."""

    kind: Kind = Kind.JUDGE
    group: Group = Group.CREDIT
    allowed: frozenset[Outcome]
    source: str


class CellAttack(Recorded):
    """A free cell, with or without the tracer. `allowed` are the right outcomes."""

    kind: Kind = Kind.INTERPRETER
    allowed: frozenset[Outcome]
    source: str
    traced: bool


@cache
def read_box_attacks() -> Sequence[BoxAttack]:
    return TypeAdapter(tuple[BoxAttack, ...]).validate_python(yaml.safe_load(FILE.read_text(encoding="utf-8")))


@cache
def list_forgeries() -> Sequence[Forgery]:
    """Numbered in the table's order: a new one goes to its end."""
    return tuple(
        Forgery(id=f"J{number:02}", title=title, allowed=frozenset(allowed), source=source)
        for number, (title, (source, allowed)) in enumerate(ON_THE_JUDGE.items(), 1)
    )


@cache
def list_cell_attacks() -> Sequence[CellAttack]:
    """Each program twice: as it is, and traced. Numbered in its table's order: a new one goes to its end."""
    tables: tuple[tuple[str, Group, Attacks], ...] = (
        ("L", Group.LANGUAGE, ON_THE_INTERPRETER),
        ("S", Group.STREAMS, ON_THE_PROCESS),
        ("E", Group.REPORT, ON_THE_REPORT),
        ("T", Group.TORCH, ON_TORCH),
    )
    return tuple(
        _describe_cell(f"{letter}{number:02}", group, title, attack, traced=traced)
        for letter, group, table in tables
        for number, (title, attack) in enumerate(table.items(), 1)
        for traced in (False, True)
    )


def _describe_cell(
    name: str, group: Group, title: str, attack: tuple[set[Outcome], str], *, traced: bool
) -> CellAttack:
    allowed, source = attack
    if traced:
        # The tracer looks at what the program touches: it may cost a program's time, never more.
        name, title, allowed = f"{name}t", f"{title}, traced", allowed | {Outcome.TIME_LIMIT}
    return CellAttack(id=name, group=group, title=title, allowed=frozenset(allowed), source=source, traced=traced)


def read_attacks() -> Sequence[BoxAttack | Forgery | CellAttack]:
    """All of them, by kind."""
    return (*read_box_attacks(), *list_forgeries(), *list_cell_attacks())

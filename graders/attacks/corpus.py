"""The recorded attacks, as data: the tests, the bench of layers and `python -m graders attack` run the same ones."""

from collections.abc import Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

import yaml
from pydantic import Field, TypeAdapter

from graders.contract.model import Message

FILE: Final = Path(__file__).with_name("attacks.yaml")
ROOT: Final = Path(__file__).resolve().parents[2]
ESCAPED: Final = "ESCAPED"
"""What an attack prints if its attempt succeeded."""


class Group(StrEnum):
    """What an attack aims at."""

    FILESYSTEM = "filesystem"
    INFO_LEAK = "info-leak"
    KERNEL = "kernel"
    NETWORK = "network"
    PERSISTENCE = "persistence"
    PROCESS = "process"
    PROTOCOL = "protocol"
    RESOURCE = "resource"


class Attack(Message):
    """A program for a free cell. `allowed` are the right ends, as `Ending.outcome` names them."""

    id: str = Field(pattern=r"^[A-Z]+[0-9]+[a-z]?$")
    group: Group
    title: str
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


@cache
def read_attacks() -> Sequence[Attack]:
    return TypeAdapter(tuple[Attack, ...]).validate_python(yaml.safe_load(FILE.read_text(encoding="utf-8")))

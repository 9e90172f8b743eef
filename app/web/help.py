"""The help page: the keys, the limits, what is kept about a reader, and what each colour means."""

from dataclasses import dataclass
from typing import ClassVar

from app.web.page import Frame


@dataclass(frozen=True)
class KeyRow:
    keys: str
    does: str


@dataclass(frozen=True)
class LimitText:
    name: str
    value: str


@dataclass(frozen=True)
class HelpPage:
    template: ClassVar = "help.html"
    frame: Frame
    keys: tuple[KeyRow, ...]
    cell_limits: tuple[LimitText, ...]

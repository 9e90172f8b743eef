"""Errors in words: a page for a reader, JSON for /api. Nothing of the server's inside leaks into either."""

from dataclasses import dataclass
from typing import ClassVar

from app.web.page import Frame


@dataclass(frozen=True)
class ErrorPage:
    """`remedy` says what to do next; `back` is where the link leads."""

    template: ClassVar = "error.html"
    frame: Frame
    status: int
    headline: str
    message: str
    remedy: str

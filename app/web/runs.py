"""Runs of cells: a stream of server-sent events for the page's element, and a page for readers without script."""

from dataclasses import dataclass
from typing import ClassVar

from app.web.blocks import RunView
from app.web.page import Frame


@dataclass(frozen=True)
class RunPage:
    """While run.refresh_seconds is not 0 the page has a meta refresh of so many seconds, inside <noscript>."""

    template: ClassVar = "run.html"
    frame: Frame
    run: RunView

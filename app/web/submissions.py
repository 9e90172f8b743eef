"""Submissions: take one, follow it live, and show its verdict."""

from dataclasses import dataclass
from typing import ClassVar

from app.web.blocks import SubmissionView
from app.web.page import Frame


@dataclass(frozen=True)
class SubmissionPage:
    """While submission.refresh_seconds is not 0 the page has a meta refresh of so many seconds, inside <noscript>."""

    template: ClassVar = "submission.html"
    frame: Frame
    submission: SubmissionView

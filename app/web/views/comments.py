"""Comments of a section's staff on a submission, as its learner and the staff see them. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from app.course.blocks import Html
from app.course.language.code import highlight
from app.storage.comments import Comment
from app.storage.records import AccountId
from app.web.views.note_text import render_note

MAX_CHARACTERS = 5000


@dataclass(frozen=True)
class CommentView:
    """`line` is 0 for a comment on the whole; `code` is that line, coloured, without its indentation. `is_new`: its
    learner has not seen it yet.

    `edit_action` takes `text`, and `delete_action` nothing; both are empty for whoever did not write it.
    """

    number: int
    who: str
    section: str
    line: int
    code: Html
    text: str
    html: Html
    made_at: str
    edited_at: str
    is_new: bool
    edit_action: str = ""
    delete_action: str = ""


def show_comments(
    found: Sequence[Comment], source: str, writer: AccountId | None = None, address: str = ""
) -> tuple[CommentView, ...]:
    """`writer` may change their own by forms, whose addresses begin with `address`."""
    return tuple(
        _show(one, source.split("\n"), address if one.writer and one.writer == writer else "") for one in found
    )


def _show(comment: Comment, lines: Sequence[str], address: str) -> CommentView:
    line = comment.line or 0
    return CommentView(
        number=comment.number,
        who=comment.writer_name,
        section=comment.section_title,
        line=line,
        code=highlight(lines[line - 1].strip()) if 1 <= line <= len(lines) else "",
        text=comment.text,
        html=render_note(comment.text),
        made_at=_write_time(comment.made_at, comment.zone),
        edited_at=_write_time(comment.edited_at, comment.zone) if comment.edited_at else "",
        is_new=not comment.is_read,
        edit_action=f"{address}/{comment.number}" if address else "",
        delete_action=f"{address}/{comment.number}/delete" if address else "",
    )


def _write_time(moment: datetime, zone: str) -> str:
    return f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M} {zone}"

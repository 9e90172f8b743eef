"""A run's picture and tape: as JSON for the browser's player, and as a view for readers without script."""

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from app.course.model import Course
from app.pictures import MAX_WHOLE_NODES, TapeRow, tape_rows, write_tape
from app.pictures.graph.words import write_bytes
from app.web.edge.figures import Figure, RunPicture
from graders.contract.model import SubmissionId

MAX_ROWS = 200


def write_played(drawn: RunPicture, run: SubmissionId, course: Course) -> str:
    """JSON: the picture, its text, the tape, and the URLs of the picture with folds opened and of the whole graph.

    It may be a megabyte, so call this in a thread.
    """
    assert drawn.figure is not None
    href = f"/api/runs/{run}"
    played = play_figure(drawn.figure, f"{href}/graph", course) | {
        "note": drawn.note,
        "whole": {"href": f"{href}/whole", "most": MAX_WHOLE_NODES},
    }
    return json.dumps(played, ensure_ascii=False, separators=(",", ":"))


def play_figure(figure: Figure, href: str, course: Course) -> dict[str, Any]:
    """The player's document for a picture; `href` is the URL of the picture with folds opened."""
    explained = {rule: (place.href, place.words) for rule, place in course.explained.items()}
    return {
        "svg": figure.picture.svg,
        "text": figure.picture.text,
        "tape": write_tape(figure.graph, explained).document,
        "href": href,
    }


@dataclass(frozen=True)
class TapeRowView:
    """One step. `href` leads to the picture at this step; `current` means that the picture shows it."""

    step: int
    words: str
    line: int
    held: str
    href: str
    current: bool


@dataclass(frozen=True)
class FoldView:
    """A link that opens a fold of the picture."""

    href: str
    words: str


@dataclass(frozen=True)
class TapeView:
    """The tape of a run, for pages without script. An empty href means that there is no such step; if `step` is None
    the whole graph is shown.

    If the tape is long, `rows` are those around the current step. `weighs` says whether bytes held are counted,
    which they are not when the learner's own engine ran.
    """

    total: int
    step: int | None
    words: str
    first_href: str
    back_href: str
    forward_href: str
    last_href: str
    whole_href: str
    rows: tuple[TapeRowView, ...]
    folds: tuple[FoldView, ...]
    weighs: bool


@dataclass(frozen=True)
class Position:
    """A reader's place in a run's tape: the path of its page, the steps taken, and the open folds."""

    path: str
    step: int | None = None
    opened: frozenset[str] = frozenset()

    def href(self, step: int | None, opened: frozenset[str] | None = None) -> str:
        pairs = [("step", str(step))] if step is not None else []
        pairs += [("opened", key) for key in sorted(self.opened if opened is None else opened)]
        return f"{self.path}?{urlencode(pairs)}#graph" if pairs else f"{self.path}#graph"


def show_tape(figure: Figure, position: Position) -> TapeView | None:
    """The tape as links and a table; None if nothing was recorded. It is slow, so call this in a thread."""
    rows = tape_rows(figure.graph)
    if not rows:
        return None
    total = len(rows)
    step = None if position.step is None else max(0, min(position.step, total))
    at = step or 0
    low = max(0, min(at - MAX_ROWS // 2, total - MAX_ROWS))
    return TapeView(
        total=total,
        step=step,
        words=_say_step(rows, step),
        first_href=position.href(0) if at > 0 else "",
        back_href=position.href(at - 1) if at > 0 else "",
        forward_href=position.href(at + 1) if at < total else "",
        last_href=position.href(total) if at < total else "",
        whole_href=position.href(None) if step is not None else "",
        rows=tuple(_show_row(row, step, position) for row in rows[low : low + MAX_ROWS]),
        folds=tuple(
            FoldView(position.href(step, position.opened | {key}), words)
            for key, words in _name_folds(figure)
            if key not in position.opened
        ),
        weighs=figure.trace.engine == "torch",
    )


def _say_step(rows: tuple[TapeRow, ...], step: int | None) -> str:
    if step is None:
        return f"The whole graph; its tape has {len(rows)} steps."
    if step == 0:
        return f"Step 0 of {len(rows)}: nothing is recorded yet."
    return f"Step {step} of {len(rows)}: {rows[step - 1].sentence}"


def _show_row(row: TapeRow, step: int | None, position: Position) -> TapeRowView:
    held, href = write_bytes(row.held_bytes), position.href(row.step)
    return TapeRowView(row.step, row.sentence, row.line, held, href, row.step == step)


def _name_folds(figure: Figure) -> list[tuple[str, str]]:
    labels = {node.key: node.label for node in figure.picture.nodes}
    return [(key, labels.get(key, key).removesuffix("; folded")) for key in figure.picture.folds]

"""A run's picture and tape: as JSON for the browser's player, and as a view for readers without script."""

import json
from dataclasses import dataclass
from urllib.parse import urlencode

from app.course.model import Course
from app.drawing.tasks import Figure, TapeRow, WritePlayed
from app.pictures import MAX_WHOLE_NODES
from app.pictures.graph.words import write_bytes
from graders.contract.model import SubmissionId

MAX_ROWS = 200


def ask_played(source: str, id_prefix: str, course: Course) -> WritePlayed:
    """What the player needs of a graph, with links to where this course explains its rules."""
    explained = {rule: (place.href, place.words) for rule, place in course.explained.items()}
    return WritePlayed(source=source, id_prefix=id_prefix, explained=explained)


def complete_run(played: bytes, run: SubmissionId) -> str:
    """What the player was given of a run, with the addresses of its picture with folds opened, and whole."""
    href = f"/api/runs/{run}"
    return _complete(played, {"href": f"{href}/graph", "whole": {"href": f"{href}/whole", "most": MAX_WHOLE_NODES}})


def complete_graph(played: bytes, href: str) -> str:
    """The same for a graph of the course's own; `href` is the address of its picture with folds opened."""
    return _complete(played, {"href": href})


def _complete(played: bytes, more: dict[str, object]) -> str:
    # The object may be a megabyte: it is not read, only opened at its brace.
    return json.dumps(more, separators=(",", ":")).removesuffix("}") + "," + played.decode().removeprefix("{")


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
    """The tape as links and a table; None if nothing was recorded."""
    tape = figure.tape
    if tape is None or not tape.total:
        return None
    total = tape.total
    step = None if position.step is None else max(0, min(position.step, total))
    at = step or 0
    return TapeView(
        total=total,
        step=step,
        words=_say_step(tape.rows, total, step),
        first_href=position.href(0) if at > 0 else "",
        back_href=position.href(at - 1) if at > 0 else "",
        forward_href=position.href(at + 1) if at < total else "",
        last_href=position.href(total) if at < total else "",
        whole_href=position.href(None) if step is not None else "",
        rows=tuple(_show_row(row, step, position) for row in tape.rows),
        folds=tuple(
            FoldView(position.href(step, position.opened | {fold.key}), fold.words)
            for fold in figure.folds
            if fold.key not in position.opened
        ),
        weighs=figure.weighs,
    )


def _say_step(rows: tuple[TapeRow, ...], total: int, step: int | None) -> str:
    if step is None:
        return f"The whole graph; its tape has {total} steps."
    if step == 0:
        return f"Step 0 of {total}: nothing is recorded yet."
    sentence = next(row.sentence for row in rows if row.step == step)
    return f"Step {step} of {total}: {sentence}"


def _show_row(row: TapeRow, step: int | None, position: Position) -> TapeRowView:
    held, href = write_bytes(row.held_bytes), position.href(row.step)
    return TapeRowView(row.step, row.sentence, row.line, held, href, row.step == step)

"""Pictures of graphs for pages, drawn elsewhere or here.

Processes with limits draw what learners' programs recorded (app.drawing). The course's own committed graphs, which a
grader recorded from reviewed code, are drawn in this process, once until their files change.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from app.drawing.answer import answer_task
from app.drawing.pool import Drawers
from app.drawing.tasks import DrawPicture, Figure, NotDrawn, Task, WritePlayed
from graders.contract.results import RunEnd


@dataclass(frozen=True)
class _Kept:
    """What was drawn of a file as it was at `changed_ns`."""

    changed_ns: int
    task: Task
    answer: bytes | Figure


class Figures:
    """Draws traces. `asker` is whose turn a drawing takes: a learner, or an address where there is none."""

    def __init__(self, drawers: Drawers) -> None:
        self.drawers = drawers
        self._kept: dict[tuple[Path, str], _Kept] = {}

    async def ask(self, task: Task, trace: str, asker: str) -> bytes:
        """`trace` is JSON, which is not read here. Raises NotDrawn, whose message is for the reader."""
        return await self.drawers.ask(task, trace.encode(), asker)

    async def draw(self, task: DrawPicture, trace: str, asker: str) -> Figure:
        """Raises NotDrawn, whose message is for the reader."""
        return Figure.model_validate_json(await self.ask(task, trace, asker))

    async def draw_opened(self, path: Path, task: DrawPicture, asker: str) -> Figure | None:
        """A committed graph with folds open, drawn as a learner's is, because any reader may ask for any folds.

        None if there is no trace. Raises NotDrawn.
        """
        if _changed_ns(path) is None:
            return None
        document = await asyncio.to_thread(path.read_bytes)
        return Figure.model_validate_json(await self.drawers.ask(task, document, asker))

    async def kept(self, path: Path, task: DrawPicture) -> Figure | None:
        """The picture of a trace that was committed with the course; None if there is no readable trace."""
        kept = await self._keep(path, task)
        assert not isinstance(kept, bytes)
        return kept

    async def kept_played(self, path: Path, task: WritePlayed) -> bytes | None:
        """The same for the player, as JSON."""
        kept = await self._keep(path, task)
        assert not isinstance(kept, Figure)
        return kept

    async def _keep(self, path: Path, task: DrawPicture | WritePlayed) -> bytes | Figure | None:
        changed_ns = _changed_ns(path)
        if changed_ns is None:
            return None
        known = self._kept.get((path, task.kind))
        if known is not None and known.changed_ns == changed_ns and known.task == task:
            return known.answer
        document = await asyncio.to_thread(path.read_bytes)
        try:
            answer = await asyncio.to_thread(answer_task, task, document)
        except NotDrawn:
            return None
        kept = Figure.model_validate_json(answer) if isinstance(task, DrawPicture) else answer
        self._kept[path, task.kind] = _Kept(changed_ns, task, kept)
        return kept


@dataclass(frozen=True)
class RunPicture:
    """The picture of a run, if it recorded a graph, with a note on the picture or on why there is none."""

    figure: Figure | None
    note: str


async def draw_end(figures: Figures, end: RunEnd, task: DrawPicture, asker: str) -> RunPicture:
    if end.trace_json is None:
        return RunPicture(None, end.trace_refused)
    try:
        figure = await figures.draw(task, end.trace_json, asker)
    except NotDrawn as refusal:
        return RunPicture(None, str(refusal))
    return RunPicture(figure if figure.node_total else None, figure.notes)


def _changed_ns(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return None

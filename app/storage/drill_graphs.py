"""The stock of drawn graphs, and who was asked which of them: nobody is asked one twice."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, tuple_, update

from app.course.drills.drill import DrillGraph
from app.course.questions.draw_values import rank
from app.storage.statements import change, fetch, insert_new
from app.storage.tables import drill_asks, drill_graphs, learners
from graders.contract.model import LearnerId
from graders.ledger.database import Database

MAX_EACH = 60
"""Graphs kept for one drill and level. The oldest make room, and with them what was asked of whom."""
ANSWERED_WITHIN = timedelta(hours=1)
"""So long after it was asked, a graph without an answer is kept: it may be on somebody's screen."""

Group = tuple[str, int]
"""A drill and a level."""


@dataclass(frozen=True)
class Wanted:
    """What a learner may be asked: drills with the digests of their generators, and a level (None: any)."""

    drills: Mapping[str, str]
    level: int | None = None


@dataclass(frozen=True)
class StoredGraph:
    """A drawn graph. `answered`: the learner who was asked it has answered."""

    id: str
    drill: str
    graph: DrillGraph
    torch: str
    answered: bool = False


@dataclass(frozen=True)
class Taken:
    """The graph to ask, and how many others of its drill and level this learner has not seen."""

    stored: StoredGraph
    left: int


class DrillGraphs:
    """Reads and writes drawn graphs. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, drill: str, digest: str, graphs: Sequence[DrillGraph], torch: str, now: datetime) -> None:
        """Keep new graphs, and delete those of the drill's other generators and the oldest of each level."""
        await self._database.write(_add, drill, digest, graphs, torch, now)

    async def count(self, drills: Mapping[str, str]) -> Mapping[Group, int]:
        """How many graphs there are of each drill and level, by the present generators alone."""
        row = drill_graphs.c
        query = select(row.drill, row.level, func.count().label("graphs")).where(_of(drills))
        rows = await self._database.read(fetch, query.group_by(row.drill, row.level))
        return {(each.drill, each.level): each.graphs for each in rows}

    async def sources(self, drill: str) -> frozenset[str]:
        """The programs that there are of a drill."""
        rows = await self._database.read(fetch, select(drill_graphs.c["values"]).where(drill_graphs.c.drill == drill))
        return frozenset(str(json.loads(row[0])["code"]) for row in rows)

    async def take(self, learner: LearnerId, wanted: Wanted, now: datetime) -> Taken | None:
        """A graph that this learner has not answered: the one that is open, or one not seen before. None: no more."""
        return await self._database.write(_take, learner, wanted, now)

    async def askable(self, learner: LearnerId, drills: Mapping[str, str]) -> frozenset[str]:
        """Those of the drills, given with their digests, that have a graph which this learner has not answered."""
        row = drill_graphs.c
        mine = (drill_asks.c.learner == learner) & drill_asks.c.answered_at.is_not(None)
        answered = select(drill_asks.c.graph).where(mine)
        query = select(row.drill).where(_of(drills), row.id.not_in(answered)).distinct()
        return frozenset(found.drill for found in await self._database.read(fetch, query))

    async def find(self, learner: LearnerId, graph: str) -> StoredGraph | None:
        """A graph that this learner was asked."""
        rows = await self._database.read(fetch, _asked_of(learner).where(drill_graphs.c.id == graph))
        return _read(rows[0]) if rows else None

    async def newest(self, learner: LearnerId, drill: str, digest: str) -> StoredGraph | None:
        """The graph of a drill that this learner was asked and has not answered, or else the one answered last."""
        asked = _asked_of(learner).where(_of({drill: digest}))
        answered_at = drill_asks.c.answered_at
        # NULL sorts first in one database and last in the other.
        order = (answered_at.is_(None).desc(), answered_at.desc(), drill_asks.c.asked_at.desc())
        rows = await self._database.read(fetch, asked.order_by(*order).limit(1))
        return _read(rows[0]) if rows else None

    async def find_draw(self, learner: LearnerId, drill: str, seed: int) -> StoredGraph | None:
        """The same by its drill and seed."""
        asked = _asked_of(learner).where(drill_graphs.c.drill == drill, drill_graphs.c.seed == seed)
        rows = await self._database.read(fetch, asked.order_by(drill_graphs.c.made_at.desc()))
        return _read(rows[0]) if rows else None


def close_ask(connection: Connection, learner: LearnerId, graph: str, now: datetime) -> bool:
    """Note that the learner has answered. False if they had answered before, or were not asked."""
    mine = (drill_asks.c.learner == learner) & (drill_asks.c.graph == graph) & drill_asks.c.answered_at.is_(None)
    return change(connection, update(drill_asks).where(mine).values(answered_at=now.timestamp())) == 1


def _of(drills: Mapping[str, str]) -> Any:
    return tuple_(drill_graphs.c.drill, drill_graphs.c.digest).in_(list(drills.items()))


def _asked_of(learner: LearnerId) -> Select[Any]:
    query = select(drill_graphs, drill_asks.c.answered_at).join(drill_asks, drill_asks.c.graph == drill_graphs.c.id)
    return query.where(drill_asks.c.learner == learner)


def _add(
    connection: Connection, drill: str, digest: str, graphs: Sequence[DrillGraph], torch: str, now: datetime
) -> None:
    row = drill_graphs.c
    is_open = drill_asks.c.answered_at.is_(None) & (drill_asks.c.asked_at > (now - ANSWERED_WITHIN).timestamp())
    spared = row.id.in_(select(drill_asks.c.graph).where(is_open))
    connection.execute(delete(drill_graphs).where(row.drill == drill, row.digest != digest, ~spared))
    for graph in graphs:
        values = {
            "id": secrets.token_hex(16), "drill": drill, "digest": digest, "level": graph.level, "seed": graph.seed,
            "values": json.dumps(dict(graph.values)), "trace": graph.trace_json, "nodes": graph.nodes,
            "torch": torch, "made_at": now.timestamp(),
        }  # fmt: skip
        connection.execute(insert(drill_graphs).values(values))
    for level in {graph.level for graph in graphs}:
        kept = select(row.id).where(row.drill == drill, row.level == level)
        newest = kept.order_by(row.made_at.desc(), row.id).limit(MAX_EACH)
        old = delete(drill_graphs).where(row.drill == drill, row.level == level, row.id.not_in(newest), ~spared)
        connection.execute(old)


def _take(connection: Connection, learner: LearnerId, wanted: Wanted, now: datetime) -> Taken | None:
    fits = _of(wanted.drills)
    if wanted.level is not None:
        fits &= drill_graphs.c.level == wanted.level
    asked = _asked_of(learner).where(fits)
    if opened := connection.execute(asked.where(drill_asks.c.answered_at.is_(None)).limit(1)).all():
        return Taken(_read(opened[0]), MAX_EACH)
    seen = select(drill_asks.c.graph).where(drill_asks.c.learner == learner)
    row = drill_graphs.c
    unseen = connection.execute(select(row.id, row.drill, row.level).where(fits, row.id.not_in(seen))).all()
    if not unseen:
        return None
    last = _find_last_drill(connection, learner)
    # Another drill than the last one, if there is a choice; then an order of this learner's own.
    chosen = min(unseen, key=lambda each: (each.drill == last, rank(learner, each.id)))
    insert_new(connection, learners, {"id": learner, "created_at": now.timestamp()})
    insert_new(connection, drill_asks, {"learner": learner, "graph": chosen.id, "asked_at": now.timestamp()})
    found = connection.execute(_asked_of(learner).where(row.id == chosen.id)).one()
    left = sum((each.drill, each.level) == (chosen.drill, chosen.level) for each in unseen) - 1
    return Taken(_read(found), left)


def _find_last_drill(connection: Connection, learner: LearnerId) -> str | None:
    newest = _asked_of(learner).order_by(drill_asks.c.asked_at.desc(), drill_graphs.c.id).limit(1)
    rows = connection.execute(newest).all()
    return rows[0].drill if rows else None


def _read(row: Row[Any]) -> StoredGraph:
    values = json.loads(row._mapping[drill_graphs.c["values"]])
    graph = DrillGraph(row.seed, row.level, values, row.trace, row.nodes)
    return StoredGraph(row.id, row.drill, graph, row.torch, row.answered_at is not None)

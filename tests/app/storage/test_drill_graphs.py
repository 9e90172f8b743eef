"""Drawn graphs: kept by drill and level, asked once of each learner, replaced when their generator changes."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.exc import ProgrammingError

from app.course.drills.drill import DrillGraph
from app.course.questions.marking import QuestionResponse
from app.storage.drill_graphs import MAX_EACH, Wanted
from app.storage.merging import merge
from app.storage.records import Answer
from app.storage.store import Store
from graders.contract.model import LearnerId
from graders.ledger import Database, StorageRefused

ADA, BOB = LearnerId("a" * 32), LearnerId("b" * 32)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALL = Wanted({"sums": "now", "cuts": "now"})


def make(number: int, level: int = 1) -> DrillGraph:
    return DrillGraph(number, level, {"code": f"x = {number}", "answer": number}, "{}", 3)


async def add(store: Store, *numbers: int, drill: str = "sums", digest: str = "now", later: float = 0) -> None:
    at = NOON + timedelta(seconds=later)
    await store.drill_graphs.add(drill, digest, [make(number) for number in numbers], "2.13.0", at)


async def answer(store: Store, learner: LearnerId, graph: str) -> int | None:
    return await store.answer_drill(learner, graph, Answer("sums", QuestionResponse(), True, NOON))


async def take_all(store: Store, learner: LearnerId, wanted: Wanted = ALL) -> list[int]:
    """The seeds of all graphs that the learner is asked, one after the other."""
    seeds: list[int] = []
    while taken := await store.drill_graphs.take(learner, wanted, NOON + timedelta(seconds=len(seeds))):
        seeds.append(taken.stored.graph.seed)
        assert await answer(store, learner, taken.stored.id)
    return seeds


async def test_a_drill_is_askable_until_its_last_graph_is_answered(store: Store) -> None:
    await add(store, 1)
    await add(store, 2, drill="cuts", digest="earlier")
    taken = await store.drill_graphs.take(ADA, ALL, NOON)
    assert taken is not None
    assert await store.drill_graphs.askable(ADA, ALL.drills) == {"sums"}
    assert await answer(store, ADA, taken.stored.id)
    assert await store.drill_graphs.askable(ADA, ALL.drills) == set()
    assert await store.drill_graphs.askable(BOB, ALL.drills) == {"sums"}


async def test_a_graph_that_somebody_may_be_looking_at_is_kept_for_an_hour(store: Store) -> None:
    await add(store, 1)
    taken = await store.drill_graphs.take(ADA, ALL, NOON)
    assert taken is not None

    await add(store, 2, digest="a newer one", later=60)
    assert await store.drill_graphs.find(ADA, taken.stored.id) is not None
    assert await answer(store, ADA, taken.stored.id)
    await add(store, 3, digest="a newer one", later=120)
    assert await store.drill_graphs.find(ADA, taken.stored.id) is None

    left_open = await store.drill_graphs.take(BOB, Wanted({"sums": "a newer one"}), NOON)
    assert left_open is not None
    await add(store, 4, digest="the newest", later=3700)
    assert await store.drill_graphs.find(BOB, left_open.stored.id) is None


async def test_each_learner_is_asked_each_graph_once(store: Store) -> None:
    await add(store, 1, 2, 3)
    assert sorted(await take_all(store, ADA)) == [1, 2, 3]
    assert sorted(await take_all(store, BOB)) == [1, 2, 3]
    assert await store.drill_graphs.take(ADA, ALL, NOON) is None


async def test_the_same_drill_does_not_come_twice_in_a_row_while_there_is_another(store: Store) -> None:
    await add(store, 1, 2)
    await add(store, 11, 12, drill="cuts")
    asked = [seed > 10 for seed in await take_all(store, ADA)]
    assert asked in ([False, True, False, True], [True, False, True, False])


async def test_graphs_of_an_earlier_generator_are_neither_asked_nor_kept(store: Store) -> None:
    await add(store, 1, digest="before")
    assert await store.drill_graphs.take(ADA, ALL, NOON) is None
    await add(store, 2)
    assert await store.drill_graphs.sources("sums") == {"x = 2"}


async def test_the_oldest_make_room(store: Store) -> None:
    await add(store, *range(MAX_EACH))
    await add(store, 1000, later=1)
    assert await store.drill_graphs.count(ALL.drills) == {("sums", 1): MAX_EACH}
    assert "x = 1000" in await store.drill_graphs.sources("sums")


async def test_only_who_was_asked_finds_a_graph_and_answers_once(store: Store) -> None:
    await add(store, 1)
    taken = await store.drill_graphs.take(ADA, ALL, NOON)
    assert taken is not None
    found = await store.drill_graphs.find(ADA, taken.stored.id)
    assert found == taken.stored
    assert await store.drill_graphs.find_draw(ADA, "sums", 1) == found
    assert await store.drill_graphs.find(BOB, taken.stored.id) is None
    assert await answer(store, BOB, taken.stored.id) is None
    number = await answer(store, ADA, taken.stored.id)
    assert await answer(store, ADA, taken.stored.id) is None
    assert [number] == [row["number"] for row in (await store.export(ADA))["answers"]]
    assert (await store.export(BOB))["answers"] == []


async def test_a_graph_stays_open_if_its_answer_cannot_be_stored(store: Store, database: Database) -> None:
    await add(store, 1)
    taken = await store.drill_graphs.take(ADA, ALL, NOON)
    assert taken is not None
    await database.write(lambda connection: connection.exec_driver_sql("ALTER TABLE answers RENAME TO away"))
    with pytest.raises((StorageRefused, ProgrammingError)):  # SQLite's and PostgreSQL's word for a missing table
        await answer(store, ADA, taken.stored.id)
    assert await store.drill_graphs.find(ADA, taken.stored.id) == taken.stored


async def test_what_was_asked_goes_along_when_learners_are_joined_and_goes_when_they_are_deleted(
    store: Store, database: Database
) -> None:
    await add(store, 1, 2)
    first = await store.drill_graphs.take(ADA, ALL, NOON)
    await store.drill_graphs.take(BOB, ALL, NOON)
    assert first is not None
    await database.write(merge, ADA, BOB)
    assert await store.drill_graphs.find(BOB, first.stored.id) is not None
    await store.forget(BOB)
    assert (await store.export(BOB))["drill_asks"] == []


@pytest.mark.parametrize("who", [ADA, BOB])
async def test_a_graph_that_one_of_two_learners_answered_is_not_asked_again_once_they_are_joined(
    store: Store, database: Database, who: LearnerId
) -> None:
    await add(store, 1)
    taken = await store.drill_graphs.take(ADA, ALL, NOON)
    assert taken is not None
    await store.drill_graphs.take(BOB, ALL, NOON + timedelta(minutes=1))
    await answer(store, who, taken.stored.id)
    await database.write(merge, ADA, BOB)
    assert await store.drill_graphs.take(BOB, ALL, NOON) is None

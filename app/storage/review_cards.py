"""Review cards: made from a learner's predictions and answers, and made again whenever those or the rules change."""

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select, update

from app.learning.review import (
    RULES_VERSION,
    Card,
    Key,
    Memory,
    Rating,
    Reviewed,
    choose_due_day,
    find_day,
    remember,
)
from app.storage.records import Deck, ReviewAnswer, Stated
from app.storage.rows import read_answer
from app.storage.statements import change, fetch, moment
from app.storage.tables import answers, learners, predictions, review_cards
from graders.contract.model import LearnerId
from graders.ledger import StorageRefused
from graders.ledger.database import Database

UTC_ZONE = "UTC"
NO_DECK = Deck(UTC_ZONE, ())


class ReviewCards:
    """Reads cards, and the answers given in review. Each method is one transaction, or one read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def deck(self, learner: LearnerId) -> Deck:
        """All cards of a learner."""
        return await self._read(learner, None)

    async def deck_of_day(self, learner: LearnerId, now: datetime) -> Deck:
        """The cards that are due by now or were asked today; this is all that planning the day needs."""
        return await self._read(learner, now)

    async def _read(self, learner: LearnerId, now: datetime | None) -> Deck:
        deck = await self._database.read(_read_deck, learner, now)
        if deck is None:
            # A page must appear even if nothing can be written; its cards are then made at the next request.
            with contextlib.suppress(StorageRefused):
                await self._database.write(remake_cards, learner)
                deck = await self._database.read(_read_deck, learner, now)
        return deck or NO_DECK

    async def own_zone(self, learner: LearnerId) -> ZoneInfo | None:
        """The learner's time zone, if they chose one or their browser sent one."""
        query = select(learners.c.zone).where(learners.c.id == learner, learners.c.zone.is_not(None))
        return next((ZoneInfo(row.zone) for row in await self._database.read(fetch, query)), None)

    async def set_zone(self, learner: LearnerId, zone: str) -> None:
        """Count the learner's days in this time zone, past ones too. `zone` is an IANA name that exists."""
        await self._database.write(_set_zone, learner, zone)

    async def answers_since(self, learner: LearnerId, begun: datetime) -> tuple[ReviewAnswer, ...]:
        """What was answered in review since then, oldest first."""
        mine = (answers.c.learner == learner) & answers.c.in_review & (answers.c.answered_at >= begun.timestamp())
        rows = await self._database.read(fetch, select(answers).where(mine).order_by(answers.c.number))
        return tuple(_review_answer(row) for row in rows)

    async def stated(self, learner: LearnerId) -> tuple[Stated, ...]:
        """Settled predictions, and answers in review and to drills, of which the learner said how sure they were."""
        return await self._database.read(_read_stated, learner)


def renew_card(connection: Connection, learner: LearnerId, key: Key) -> None:
    """Make one question's card again after one of its answers was stored or rated."""
    person = _find_person(connection, learner)
    if person is None or person.cards_version != RULES_VERSION:
        remake_cards(connection, learner)
        return
    this = _of(learner, key)
    memory = remember(_read_answers(connection, learner, ZoneInfo(person.zone or UTC_ZONE), key).get(key, ()))
    known = [_card(row) for row in fetch(connection, select(review_cards).where(this))]
    # Practice later on the same day changes nothing, so the due day that was chosen stays.
    if memory is None or (known and known[0].memory == memory):
        return
    count = func.count()
    others = select(review_cards.c.due_on, count).where(review_cards.c.learner == learner, ~this)
    rows = connection.execute(others.group_by(review_cards.c.due_on)).all()
    load = {date.fromisoformat(due_on): count for due_on, count in rows}
    connection.execute(delete(review_cards).where(this))
    card = Card(key, memory, choose_due_day(key, memory, load, learner))
    connection.execute(insert(review_cards).values(_row(learner, card)))


def remake_cards(connection: Connection, learner: LearnerId) -> None:
    """Make all cards of a learner again. Due days may differ a little from before, because they share their load."""
    person = _find_person(connection, learner)
    if person is None:
        return
    found = _read_answers(connection, learner, ZoneInfo(person.zone or UTC_ZONE))
    memories = [(key, memory) for key, reviewed in found.items() if (memory := remember(reviewed))]
    load: dict[date, int] = defaultdict(int)
    rows = []
    for key, memory in sorted(memories, key=lambda item: (item[1].last.on, str(item[0]))):
        card = Card(key, memory, choose_due_day(key, memory, load, learner))
        load[card.due_on] += 1
        rows.append(_row(learner, card))
    connection.execute(delete(review_cards).where(review_cards.c.learner == learner))
    if rows:
        connection.execute(insert(review_cards), rows)
    change(connection, update(learners).where(learners.c.id == learner).values(cards_version=RULES_VERSION))


def forget_cards(connection: Connection, learner: LearnerId) -> None:
    """Let the cards be made again when they are needed next, because the learner's answers have changed."""
    change(connection, update(learners).where(learners.c.id == learner).values(cards_version=None))


def keep_first_zone(connection: Connection, learner: LearnerId, zone: str) -> None:
    """Note a browser's time zone for a learner who has none. A zone that they chose stays."""
    unknown = (learners.c.id == learner) & learners.c.zone.is_(None)
    if zone and change(connection, update(learners).where(unknown).values(zone=zone)):
        forget_cards(connection, learner)


def _set_zone(connection: Connection, learner: LearnerId, zone: str) -> None:
    change(connection, update(learners).where(learners.c.id == learner).values(zone=zone))
    remake_cards(connection, learner)


def _find_person(connection: Connection, learner: LearnerId) -> Row[Any, Any] | None:
    query = select(learners.c.zone, learners.c.cards_version).where(learners.c.id == learner)
    return connection.execute(query).one_or_none()


def _read_deck(connection: Connection, learner: LearnerId, now: datetime | None) -> Deck | None:
    """None if the cards must be made again first."""
    person = _find_person(connection, learner)
    if person is None:
        return NO_DECK
    if person.cards_version != RULES_VERSION:
        return None
    zone, mine = person.zone or UTC_ZONE, review_cards.c.learner == learner
    if now is not None:
        today = find_day(now, ZoneInfo(zone)).isoformat()
        mine &= (review_cards.c.due_on <= today) | (review_cards.c.last_on == today)
    rows = fetch(connection, select(review_cards).where(mine))
    return Deck(zone, tuple(_card(row) for row in rows))


def _read_answers(
    connection: Connection, learner: LearnerId, zone: ZoneInfo, key: Key | None = None
) -> Mapping[Key, Iterable[Reviewed]]:
    """What counts for memory, oldest first: rated answers, and predictions once their truth was shown."""
    given = _narrow(answers.c.learner == learner, answers.c.chapter, answers.c.question, key)
    guessed = _narrow(predictions.c.learner == learner, predictions.c.chapter, predictions.c.predict, key)
    guessed &= predictions.c.resolved_at.is_not(None) & predictions.c.rating.is_not(None)
    timed: list[tuple[float, Key, Rating, bool]] = [
        (row.resolved_at, Key(row.chapter, row.predict), Rating(row.rating), False)
        for row in fetch(connection, select(predictions).where(guessed))
    ]
    for row in fetch(connection, select(answers).where(given).order_by(answers.c.number)):
        rating = _rating(row)
        if rating is not None:
            timed.append((row.answered_at, Key(row.chapter, row.question), rating, row.in_review))
    found: dict[Key, list[Reviewed]] = defaultdict(list)
    for at, asked, rating, in_review in sorted(timed, key=lambda one: one[0]):
        found[asked].append(Reviewed(find_day(moment(at), zone), rating, in_review))
    return found


def _narrow(mine: ColumnElement[bool], chapter: Any, question: Any, key: Key | None) -> ColumnElement[bool]:
    return mine if key is None else mine & (chapter == key.chapter) & (question == key.question)


def _rating(row: Row[Any]) -> Rating | None:
    if row.rating is not None:
        return Rating(row.rating)
    if row.correct is None:
        return None
    return Rating.Good if row.correct else Rating.Again


def _of(learner: LearnerId, key: Key) -> ColumnElement[bool]:
    cards = review_cards.c
    return (cards.learner == learner) & (cards.chapter == key.chapter) & (cards.question == key.question)


def _row(learner: LearnerId, card: Card) -> dict[str, Any]:
    memory = card.memory
    return {
        "learner": learner,
        "chapter": card.key.chapter,
        "question": card.key.question,
        "due_on": card.due_on.isoformat(),
        "last_on": memory.last.on.isoformat(),
        "last_rating": int(memory.last.rating),
        "last_in_review": memory.last.in_review,
        "stability": memory.stability,
        "difficulty": memory.difficulty,
        "interval_days": memory.interval_days,
        "previous_days": memory.previous_days,
        "reps": memory.reps,
        "lapses": memory.lapses,
        "right_days": memory.right_days,
    }


def _card(row: Row[Any]) -> Card:
    last = Reviewed(date.fromisoformat(row.last_on), Rating(row.last_rating), row.last_in_review)
    memory = Memory(
        stability=row.stability,
        difficulty=row.difficulty,
        last=last,
        interval_days=row.interval_days,
        previous_days=row.previous_days,
        reps=row.reps,
        lapses=row.lapses,
        right_days=row.right_days,
    )
    return Card(Key(row.chapter, row.question), memory, date.fromisoformat(row.due_on))


def _read_stated(connection: Connection, learner: LearnerId) -> tuple[Stated, ...]:
    settled = (predictions.c.learner == learner) & predictions.c.resolved_at.is_not(None)
    guessed = select(predictions).where(settled, predictions.c.confidence.is_not(None))
    given = (answers.c.learner == learner) & answers.c.confidence.is_not(None) & answers.c.correct.is_not(None)
    return (
        *(
            Stated(row.chapter, row.predict, row.confidence, option=row.option)
            for row in fetch(connection, guessed.order_by(predictions.c.resolved_at))
        ),
        *(
            Stated(row.chapter, row.question, row.confidence, correct=row.correct)
            for row in fetch(connection, select(answers).where(given).order_by(answers.c.number))
        ),
    )


def _review_answer(row: Row[Any]) -> ReviewAnswer:
    return ReviewAnswer(row.number, row.chapter, read_answer(row))

"""Cards follow a learner's answers: each write renews one, and all can be made again."""

from datetime import UTC, date, datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import update

from app.course.questions.marking import QuestionResponse
from app.learning.review import Key, Memory, Rating
from app.storage.merging import merge
from app.storage.records import Answer, Deck, Prediction
from app.storage.review_cards import NO_DECK, remake_cards
from app.storage.store import Store
from app.storage.tables import learners
from graders.contract.model import LearnerId
from graders.ledger import Database

ADA, BOB = LearnerId("a" * 32), LearnerId("b" * 32)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def given_on(day: float, right: bool | None = True, *, in_review: bool = False, question: str = "q") -> Answer:
    at = NOON + timedelta(days=day)
    return Answer(question, QuestionResponse(("a",)), right, at, in_review=in_review)


def due_days(deck: Deck) -> dict[str, date]:
    return {card.key.question: card.due_on for card in deck.cards}


async def test_the_first_answer_makes_a_card(store: Store) -> None:
    await store.add_answer(ADA, "one", given_on(0))
    await store.add_answer(ADA, "one", given_on(0, False, question="missed"))

    deck = await store.review_cards.deck(ADA)

    assert due_days(deck) == {"q": date(2026, 3, 3), "missed": date(2026, 3, 2)}
    assert deck.zone == "UTC"


async def test_practice_on_the_same_day_changes_nothing(store: Store) -> None:
    await store.add_answer(ADA, "one", given_on(0, False))
    before = await store.review_cards.deck(ADA)
    await store.add_answer(ADA, "one", given_on(0.1))

    assert await store.review_cards.deck(ADA) == before


async def test_somebody_without_answers_has_no_cards(store: Store) -> None:
    assert await store.review_cards.deck(ADA) == NO_DECK
    await store.save_draft(ADA, "exercises/double", "text", NOON)
    assert await store.review_cards.deck(ADA) == NO_DECK


async def test_a_prediction_has_a_card_once_it_is_settled(store: Store) -> None:
    await store.commit_prediction(ADA, "one", Prediction("p", "a", "certain", NOON))
    assert (await store.review_cards.deck(ADA)).cards == ()

    await store.resolve_predictions(ADA, "one", {"p": Rating.Again}, NOON)

    assert due_days(await store.review_cards.deck(ADA)) == {"p": date(2026, 3, 2)}


async def test_an_open_answer_has_a_card_once_it_is_rated(store: Store) -> None:
    await store.add_answer(ADA, "one", given_on(0, None))
    assert (await store.review_cards.deck(ADA)).cards == ()

    await store.rate_answer(ADA, "one", "q", ["1"], True, Rating.Hard)

    assert due_days(await store.review_cards.deck(ADA)) == {"q": date(2026, 3, 2)}


async def test_ticks_changed_later_change_the_card(store: Store) -> None:
    await store.add_answer(ADA, "one", given_on(0, None))
    await store.rate_answer(ADA, "one", "q", ["1"], True, Rating.Hard)

    await store.rate_answer(ADA, "one", "q", ["1", "2"], True, Rating.Good)

    assert due_days(await store.review_cards.deck(ADA)) == {"q": date(2026, 3, 3)}


async def test_a_day_has_what_is_due_and_what_was_asked(store: Store) -> None:
    for question, day in (("due", 0), ("later", 2), ("asked", 0)):
        await store.add_answer(ADA, "one", given_on(day, question=question))
    await store.add_answer(ADA, "one", given_on(2, question="asked", in_review=True))
    await store.add_answer(ADA, "one", given_on(1, question="tomorrow"))

    today = await store.review_cards.deck_of_day(ADA, NOON + timedelta(days=2))
    tomorrow = await store.review_cards.deck_of_day(ADA, NOON + timedelta(days=3))

    assert set(due_days(today)) == {"due", "later", "asked"}
    assert set(due_days(tomorrow)) == {"due", "tomorrow"}


async def test_days_are_the_learners_own(store: Store) -> None:
    late = given_on(11.5 / 24)
    await store.add_answer(ADA, "one", late, "Asia/Tokyo")
    await store.add_answer(BOB, "one", late)

    assert due_days(await store.review_cards.deck(ADA)) == {"q": date(2026, 3, 4)}
    assert due_days(await store.review_cards.deck(BOB)) == {"q": date(2026, 3, 3)}


async def test_a_zone_that_was_chosen_counts_past_days_too_and_stays(store: Store) -> None:
    await store.add_answer(ADA, "one", given_on(11.5 / 24), "Asia/Tokyo")

    await store.review_cards.set_zone(ADA, "America/Lima")
    await store.add_answer(ADA, "one", given_on(11.6 / 24, question="r"), "Asia/Tokyo")

    deck = await store.review_cards.deck(ADA)
    assert (deck.zone, due_days(deck)["q"]) == ("America/Lima", date(2026, 3, 3))


async def test_answers_from_before_cards_existed_get_them(store: Store, database: Database) -> None:
    await store.add_answer(ADA, "one", given_on(0))
    await store.add_answer(ADA, "one", given_on(2))
    deck = await store.review_cards.deck(ADA)

    await database.write(lambda connection: connection.execute(update(learners).values(cards_version=None)))

    assert await store.review_cards.deck(ADA) == deck


async def test_two_learners_who_become_one_have_the_cards_of_all_answers(store: Store, database: Database) -> None:
    await store.add_answer(ADA, "one", given_on(0), "Asia/Tokyo")
    await store.add_answer(BOB, "one", given_on(2))
    await store.add_answer(BOB, "one", given_on(2, question="r"))

    await database.write(merge, ADA, BOB)

    deck = await store.review_cards.deck(BOB)
    reps = {card.key.question: card.memory.reps for card in deck.cards}
    assert (reps, deck.zone) == ({"q": 2, "r": 1}, "Asia/Tokyo")


async def test_answers_in_review_are_found_by_their_day(store: Store) -> None:
    await store.add_answer(ADA, "one", given_on(0))
    asked = given_on(2, False, in_review=True)
    number = await store.add_answer(ADA, "one", asked)

    (found,) = await store.review_cards.answers_since(ADA, NOON)

    assert (found.number, found.chapter, found.answer) == (number, "one", asked)
    assert await store.review_cards.answers_since(BOB, NOON) == ()
    assert await store.review_cards.answers_since(ADA, NOON + timedelta(days=3)) == ()


STEPS = st.lists(st.tuples(st.sampled_from("qrs"), st.integers(0, 90), st.booleans()), max_size=15)


@given(STEPS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
async def test_cards_made_again_remember_the_same(
    store: Store, database: Database, steps: list[tuple[str, int, bool]]
) -> None:
    """What each write made is what one replay of all answers makes; only the load on days may differ."""
    await store.forget(ADA)
    for question, day, right in sorted(steps, key=lambda step: step[1]):
        await store.add_answer(ADA, "one", given_on(day, right, question=question))
    one_by_one = await remembered(store)

    await database.write(remake_cards, ADA)

    assert await remembered(store) == one_by_one
    assert len(one_by_one) == len({question for question, _, _ in steps})


async def remembered(store: Store) -> dict[Key, Memory]:
    return {card.key: card.memory for card in (await store.review_cards.deck(ADA)).cards}

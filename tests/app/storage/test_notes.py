"""Notes: one for each place, private, moved when two learners are one, and gone with their learner."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.storage import notes as notes_module
from app.storage.merging import merge
from app.storage.notes import Note
from app.storage.records import Work
from app.storage.store import Store
from graders.contract.model import LearnerId
from graders.ledger import Database

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ADA, BOB = LearnerId("a" * 32), LearnerId("b" * 32)
NOTE = Note("chapters/one", "cell", "Leaves *only*.", "0" * 16, NOON)


async def test_a_later_note_takes_the_place_of_the_one_before(store: Store) -> None:
    later = replace(NOTE, text="Also buffers.", content_hash="1" * 16, saved_at=NOON + timedelta(minutes=1))
    await store.notes.save(ADA, NOTE)
    await store.notes.save(ADA, later)

    assert await store.notes.of_learner(ADA) == (later,)


async def test_a_note_is_its_learners_alone(store: Store) -> None:
    await store.notes.save(ADA, NOTE)

    assert await store.notes.of_learner(BOB) == ()
    await store.notes.remove(BOB, NOTE.page, NOTE.block)
    assert await store.notes.of_page(ADA, NOTE.page) == {NOTE.block: NOTE}


async def test_a_removed_note_is_gone(store: Store) -> None:
    await store.notes.save(ADA, NOTE)
    await store.notes.remove(ADA, NOTE.page, NOTE.block)

    assert await store.notes.of_learner(ADA) == ()


async def test_a_learner_has_only_so_many_but_may_change_each(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes_module, "MAX_NOTES_OF_ONE", 2)

    assert await store.notes.save(ADA, NOTE)
    assert await store.notes.save(ADA, replace(NOTE, block="other"))
    assert not await store.notes.save(ADA, replace(NOTE, block="third"))
    assert await store.notes.save(ADA, replace(NOTE, text="changed"))


async def test_notes_are_exported_and_forgotten_with_their_learner(store: Store) -> None:
    await store.notes.save(ADA, NOTE)

    (row,) = (await store.export(ADA))["notes"]
    assert (row["text"], row["saved_at"]) == (NOTE.text, NOON.isoformat())
    await store.forget(ADA)
    assert await store.notes.of_learner(ADA) == ()


async def test_of_two_notes_on_one_place_the_newer_stays_when_work_is_joined(
    store: Store, database: Database
) -> None:
    newer = replace(NOTE, text="newer", saved_at=NOON + timedelta(hours=1))
    elsewhere = replace(NOTE, block="other")
    await store.notes.save(ADA, newer)
    await store.notes.save(ADA, elsewhere)
    await store.notes.save(BOB, NOTE)

    assert await database.write(merge, ADA, BOB) == Work(0, 0, 2)
    assert await store.notes.of_learner(BOB) == (newer, elsewhere)

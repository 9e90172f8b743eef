"""The store keeps what learners leave behind, each learner's apart."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, insert

from app.course.drills.drill import DrillGraph
from app.course.questions.marking import QuestionResponse
from app.learning.review import Rating
from app.storage.draft_key import DraftKey
from app.storage.drill_graphs import Wanted
from app.storage.notes import Note
from app.storage.records import NOTHING_YET, Answer, ChapterHistory, Prediction, Reading, Session
from app.storage.reports import Report
from app.storage.store import Store
from app.storage.tables import assignments, comments, metadata, regrade_items, regrades, sections
from graders.contract.model import LearnerId
from graders.ledger import Database

ADA, BOB = LearnerId("a" * 64), LearnerId("b" * 64)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)


async def test_a_learner_who_did_nothing_has_no_history(store: Store) -> None:
    assert await store.history(ADA, "one") == NOTHING_YET
    assert await store.histories(ADA) == {}


async def test_the_first_prediction_stands(store: Store) -> None:
    first = Prediction("p", "a", "guess", NOON)

    assert await store.commit_prediction(ADA, "one", first)
    assert not await store.commit_prediction(ADA, "one", Prediction("p", "b", "certain", LATER))
    assert (await store.history(ADA, "one")).predictions == {"p": first}


async def test_a_prediction_is_settled_once(store: Store) -> None:
    await store.commit_prediction(ADA, "one", Prediction("p", None, None, NOON))
    await store.commit_prediction(BOB, "one", Prediction("p", "a", "guess", NOON))

    await store.resolve_predictions(ADA, "one", {"p": Rating.Again, "unknown": Rating.Good}, LATER)
    await store.resolve_predictions(ADA, "one", {"p": Rating.Good}, LATER + timedelta(hours=1))

    mine = (await store.history(ADA, "one")).predictions["p"]
    theirs = (await store.history(BOB, "one")).predictions["p"]
    assert (mine.option, mine.resolved_at, theirs.resolved_at) == (None, LATER, None)


async def test_every_attempt_is_kept_in_order(store: Store) -> None:
    wrong = Answer("q", QuestionResponse(("b",)), False, NOON)
    right = Answer("q", QuestionResponse(("a",), "text", ("x", "mul")), True, LATER)

    await store.add_answer(ADA, "one", wrong)
    await store.add_answer(ADA, "one", right)

    assert (await store.history(ADA, "one")).answers == (wrong, right)


async def test_the_rubric_is_held_against_the_last_attempt(store: Store) -> None:
    assert not await store.rate_answer(ADA, "one", "q", ["1"], True, Rating.Hard)
    await store.add_answer(ADA, "one", Answer("q", QuestionResponse(text="first"), None, NOON))
    await store.add_answer(ADA, "one", Answer("q", QuestionResponse(text="second"), None, LATER))

    assert await store.rate_answer(ADA, "one", "q", ["1", "3"], True, Rating.Good)

    first, second = (await store.history(ADA, "one")).answers
    assert (first.ticked, first.correct) == (None, None)
    assert (second.ticked, second.correct) == (("1", "3"), True)


async def test_a_draft_is_replaced_by_the_next(store: Store) -> None:
    await store.save_draft(ADA, "chapters/one/cell", "old", NOON)
    await store.save_draft(ADA, "chapters/one/cell", "new", LATER)
    await store.save_draft(ADA, "chapters/one_more/cell", "other", NOON)

    assert await store.drafts(ADA, "chapters/one/") == {"chapters/one/cell": "new"}


async def test_a_draft_that_the_sender_does_not_know_is_not_replaced(store: Store) -> None:
    key = DraftKey("chapters/one/cell")

    assert await store.replace_draft(ADA, key, "first", "starter", NOON)
    assert await store.replace_draft(ADA, key, "second", "first\n", LATER)
    assert not await store.replace_draft(ADA, key, "third", "first", LATER)
    assert await store.drafts(ADA, "chapters/one/") == {key: "second"}


async def test_the_last_run_of_a_cell_is_remembered(store: Store) -> None:
    await store.note_cell_run(ADA, "one", "cell", "run-1", NOON)
    await store.note_cell_run(ADA, "one", "cell", "run-2", LATER)

    assert (await store.history(ADA, "one")).cell_runs == {"cell": "run-2"}
    assert await store.find_cell_run(ADA, "run-1") == ("one", "cell")
    assert await store.find_cell_run(BOB, "run-1") is None


async def test_a_chapter_stays_read_when_its_reader_scrolls_back(store: Store) -> None:
    await store.finish_reading(ADA, "one", NOON)
    await store.keep_position(ADA, "one", "middle", LATER)

    assert (await store.history(ADA, "one")).reading == Reading("middle", LATER, NOON)


async def test_the_place_read_last_is_found_among_chapters(store: Store) -> None:
    await store.keep_position(ADA, "two", "end", LATER)
    await store.keep_position(ADA, "one", "start", NOON)

    assert list((await store.readings(ADA)).items()) == [
        ("two", Reading("end", LATER, None)),
        ("one", Reading("start", NOON, None)),
    ]
    assert await store.readings(BOB) == {}


async def test_a_hint_opened_twice_is_one_hint(store: Store) -> None:
    await store.open_hint(ADA, "double", 1, NOON)
    await store.open_hint(ADA, "double", 1, LATER)
    await store.open_hint(ADA, "double", 2, LATER)

    assert await store.hints_opened(ADA, "double") == 2


async def test_chapters_have_histories_of_their_own(store: Store) -> None:
    await store.finish_reading(ADA, "one", NOON)
    await store.commit_prediction(ADA, "two", Prediction("p", "a", "guess", NOON))

    assert await store.histories(ADA) == {
        "one": ChapterHistory(reading=Reading("", NOON, NOON)),
        "two": ChapterHistory(predictions={"p": Prediction("p", "a", "guess", NOON)}),
    }


LEARNER_TABLES = {
    table.name
    for table in metadata.sorted_tables
    if table.name == "learners" or ("learner" in table.c and table.name != "accounts")
}
"""What a learner without an account leaves behind."""


def leave_teaching(connection: Connection, learner: LearnerId) -> None:
    """One of the learner's submissions that a section's staff have judged again and commented on."""
    section, lab = learner[:31] + "s", learner[:31] + "l"
    assigned = {"kind": "exercise", "target": "double", "title": "Double", "points": 1, "position": 0, "made_at": 0}
    regrade = {"scope": "all", "policy": "raise", "reason": "r", "exercise_digest": "", "state": "applied"}
    before = {"outcome_before": "passed", "passed_before": 1, "total_before": 1}
    connection.execute(insert(sections).values(id=section, title="Spring", made_at=0))
    connection.execute(insert(assignments).values(id=lab, section=section, **assigned))
    made = insert(regrades).values(assignment=lab, made_at=0, **regrade).returning(regrades.c.number)
    number = connection.execute(made).scalar_one()
    item = {"regrade": number, "submission": "s", "learner": learner, "job": "j", **before}
    connection.execute(insert(regrade_items).values(item))
    comment = {"submission": "s", "exercise": "double", "text": "Well done.", "made_at": 0}
    connection.execute(insert(comments).values(section=section, learner=learner, **comment))


async def leave_something_everywhere(store: Store, database: Database, learner: LearnerId) -> None:
    await store.sessions.keep(Session(f"hash-{learner}"[:64], learner, NOON, NOON), NOON, LATER)
    await store.commit_prediction(learner, "one", Prediction("p", "a", "guess", NOON))
    await store.add_answer(learner, "one", Answer("q", QuestionResponse(("a",)), True, NOON))
    await store.save_draft(learner, "exercises/double", "text", NOON)
    await store.note_cell_run(learner, "one", "cell", f"run-{learner[0]}", NOON)
    await store.keep_position(learner, "one", "middle", NOON)
    await store.open_hint(learner, "double", 1, NOON)
    await store.calendars.open(learner, f"calendar-{learner}"[:64], NOON)
    await store.drill_graphs.add("sums", "now", [DrillGraph(1, 1, {"code": "x = 1"}, "{}", 3)], "2.13.0", NOON)
    assert await store.drill_graphs.take(learner, Wanted({"sums": "now"}), NOON)
    await store.reports.add(learner, Report(0, "chapters/one", "p", "0" * 16, "1" * 16, "wrong", NOON))
    await store.notes.save(learner, Note("chapters/one", "p", "mine", "0" * 16, NOON))
    await database.write(leave_teaching, learner)


async def test_an_export_has_every_table_and_readable_times(store: Store, database: Database) -> None:
    await leave_something_everywhere(store, database, ADA)

    exported = await store.export(ADA)

    assert {name: len(rows) for name, rows in exported.items() if rows} == dict.fromkeys(LEARNER_TABLES, 1)
    assert exported["predictions"][0]["committed_at"] == "2026-03-01T12:00:00+00:00"


async def test_a_forgotten_learner_leaves_no_row_and_takes_nobody_along(store: Store, database: Database) -> None:
    await leave_something_everywhere(store, database, ADA)
    await leave_something_everywhere(store, database, BOB)

    await store.forget(ADA)

    assert {len(rows) for rows in (await store.export(ADA)).values()} == {0}
    assert {name for name, rows in (await store.export(BOB)).items() if rows} == LEARNER_TABLES

"""Grades of a whole class, from rows: how long does reading and computing them take?

python bench/grades.py [--learners 500] [--assignments 40] [--submissions 50000]

The rows are loaded and not judged: submissions with a result of 3.5 KB each, answers and predictions, spread evenly
over learners, assignments and the twelve weeks before now. A third of the submissions passes; one in ten is late.
Times are of the wall and of this process's processor: for one learner's page of grades, for the fifty learners of one
page of a gradebook, and for everybody.
"""

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sqlalchemy import Connection, insert

from app.access.permissions import Role
from app.course.loader import load_course
from app.course.model import Course
from app.learning.grading import Assignment, Credit, Kind
from app.storage.audit import Actor
from app.storage.database import migrate
from app.storage.records import AccountId, SectionId
from app.storage.rows import dump_response
from app.storage.store import Store
from app.storage.tables import accounts, answers, learners, memberships, predictions
from app.web.views.grades import grade_all
from graders.ledger import Database
from graders.ledger.tables import submissions

ROOT = Path(__file__).resolve().parent.parent
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
WEEKS = 12
RESULT = "x" * 3500
REPEATS = 9


def choose_assignments(course: Course, number: int) -> list[Assignment]:
    """Up to three in four are exercises, the rest chapters' questions and predictions; each is due in its week."""
    labs = [Assignment("", Kind.EXERCISE, name, name, 10) for name in course.exercises][: number * 3 // 4]
    parts = [
        Assignment("", kind, one.slug, one.title, 4, credit=Credit.SHARE)
        for one in course.chapters
        for kind, found in ((Kind.RETRIEVAL, one.index.questions), (Kind.PREDICTIONS, one.index.predicts))
        if found
    ]
    chosen = [*labs, *parts[: number - len(labs)]]
    first = NOW - timedelta(weeks=WEEKS)
    dated = []
    for place, one in enumerate(chosen):
        due = first + timedelta(weeks=WEEKS) * (place + 1) / number
        dated.append(replace(one, due_at=due, closes_at=due + timedelta(days=14)))
    return dated


def load_people(connection: Connection, section: SectionId, number: int) -> None:
    ids = [f"{place:032x}" for place in range(number)]
    at = NOW.timestamp()
    connection.execute(insert(learners), [{"id": one, "created_at": at} for one in ids])
    people = [{"id": one, "learner": one, "name": one, "name_key": one, "made_at": at, "locale": ""} for one in ids]
    known = set(accounts.c.keys())
    connection.execute(insert(accounts), [{key: row[key] for key in row if key in known} for row in people])
    rows = [
        {"section": section, "account": one, "role": Role.LEARNER.value, "status": "active", "added_at": at}
        for one in ids
    ]
    connection.execute(insert(memberships), rows)


def load_work(
    connection: Connection, course: Course, assigned: list[Assignment], people: int, handed_in: int
) -> None:
    chance = random.Random(7)
    labs = [one for one in assigned if one.kind is Kind.EXERCISE]
    each = max(1, handed_in // (people * len(labs)))
    rows: list[dict[str, Any]] = []
    for place in range(people * len(labs) * each):
        learner, lab = place % people, labs[place // people % len(labs)]
        rows.append(_submission(chance, place, learner, lab))
    # In the order of time, as a term would write them.
    rows.sort(key=lambda row: row["submitted_at"])
    for start in range(0, len(rows), 5000):
        connection.execute(insert(submissions), rows[start : start + 5000])
    for one in assigned:
        chapter = course.index.by_slug.get(one.target)
        if chapter and one.kind is Kind.RETRIEVAL:
            connection.execute(insert(answers), _answers(chance, one, tuple(chapter.index.questions), people))
        elif chapter and one.kind is Kind.PREDICTIONS:
            connection.execute(insert(predictions), _predictions(chance, one, tuple(chapter.index.predicts), people))


def _draw_time(chance: random.Random, one: Assignment) -> float:
    """Within the week before the due date; one in ten up to four days after it."""
    assert one.due_at is not None
    days = chance.uniform(0, 4) if chance.random() < 0.1 else -chance.uniform(0, 7)
    return one.due_at.timestamp() + days * 86400


def _submission(chance: random.Random, place: int, learner: int, lab: Assignment) -> dict[str, Any]:
    has_passed = chance.random() < 1 / 3
    return {
        "id": f"{place:032x}",
        "learner": f"{learner:032x}",
        "idempotency_key": str(place),
        "kind": "grade",
        "exercise": lab.target,
        "queue": "cpu",
        "priority": 0,
        "job": "{}",
        "state": "finished",
        "claim_number": 1,
        "lost_workers": 0,
        "last_seq": 1,
        "submitted_at": _draw_time(chance, lab),
        "outcome": "passed" if has_passed else "wrong_answer",
        "result": RESULT,
        "cases_passed": 12 if has_passed else chance.randrange(12),
        "cases_total": 12,
    }


def _answers(chance: random.Random, one: Assignment, names: tuple[str, ...], people: int) -> list[dict[str, Any]]:
    from app.course.questions.marking import QuestionResponse

    response = dump_response(QuestionResponse(("a",), "", ()))
    return [
        {
            "learner": f"{learner:032x}",
            "chapter": one.target,
            "question": name,
            "response": response,
            "correct": chance.random() < 0.7,
            "answered_at": _draw_time(chance, one),
        }
        for learner in range(people)
        for name in names
        for _ in range(chance.randint(1, 2))
    ]


def _predictions(chance: random.Random, one: Assignment, names: tuple[str, ...], people: int) -> list[dict[str, Any]]:
    return [
        {
            "learner": f"{learner:032x}",
            "chapter": one.target,
            "predict": name,
            "committed_at": _draw_time(chance, one),
        }
        for learner in range(people)
        for name in names
        if chance.random() < 0.8
    ]


async def measure(words: str, act: Callable[[], Awaitable[int]]) -> None:
    walls, processors, cells = [], [], 0
    for _ in range(REPEATS):
        wall, processor = time.perf_counter(), time.process_time()
        cells = await act()
        walls.append(1000 * (time.perf_counter() - wall))
        processors.append(1000 * (time.process_time() - processor))
    wall, processor = statistics.median(walls), statistics.median(processors)
    print(
        f"{words:42} {cells:6} grades   wall {wall:8.1f} ms (worst {max(walls):.1f})   processor {processor:8.1f} ms"
    )


def measure_folder(folder: Path) -> float:
    """In MiB."""
    return sum(file.stat().st_size for file in folder.glob("*.sqlite3*")) / 2**20


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--learners", type=int, default=500)
    parser.add_argument("--assignments", type=int, default=40)
    parser.add_argument("--submissions", type=int, default=50_000)
    wanted = parser.parse_args()
    course = load_course(ROOT)[0]
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/unwind.sqlite3"
        migrate(url, Path(folder))
        database = Database(url)
        store = Store(database)
        section = await store.sections.make("A term", Actor(None, NOW))
        await store.assignments.make(section, choose_assignments(course, wanted.assignments), Actor(None, NOW))
        assigned = await store.assignments.of_section(section)
        await database.write(load_people, section, wanted.learners)
        await database.write(load_work, course, list(assigned), wanted.learners, wanted.submissions)
        size = measure_folder(Path(folder))
        print(f"rows loaded, not judged: {wanted.learners} learners, {len(assigned)} assignments, {size:.0f} MiB")
        people = [AccountId(f"{place:032x}") for place in range(wanted.learners)]
        policy = await store.assignments.policy(section)

        async def one_learner() -> int:
            found = await store.assignments.of_learner(people[3], NOW)  # type: ignore[arg-type]
            return len(grade_all(course, found[0].policy, found[0].assignments, people[3:4], found[0].work, NOW))

        async def some(number: int) -> int:
            chosen = people[:number] if number < len(people) else None
            work = await store.assignments.class_work(section, assigned, chosen)
            return len(grade_all(course, policy, assigned, people[:number], work, NOW))

        await measure("one learner, as on /me/grades", one_learner)
        await measure("a page of 50", lambda: some(50))
        await measure("everybody", lambda: some(wanted.learners))
        await database.close()


if __name__ == "__main__":
    asyncio.run(main())

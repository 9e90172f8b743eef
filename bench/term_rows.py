"""The rows of a term, for bench/term.py: a class's work, as the site would have stored it. Nothing is judged or run.

Every row comes from one seed, so that two runs measure the same term.
"""

import json
import math
import random
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from grades import NOW, WEEKS
from likeness import read_passing, write_submission
from sqlalchemy import Connection, Table, insert

from app.access.permissions import Role
from app.course.model import Chapter, Course
from app.course.questions.kinds import Choice, Several
from app.course.questions.marking import QuestionResponse
from app.learning.calibration import Confidence
from app.learning.grading import Assignment, Kind
from app.storage.records import AccountId, SectionId
from app.storage.rows import dump_response
from app.storage.tables import (
    ACTIVE,
    accounts,
    allowances,
    answers,
    audit,
    cell_runs,
    comments,
    learners,
    memberships,
    overrides,
    posts,
    predictions,
    readings,
    regrade_items,
    regrades,
    reports,
    roster,
    threads,
)
from graders.contract.jobs import GradeJob
from graders.contract.model import ExerciseName
from graders.contract.results import CaseResult, Finding, Outcome, Verdict
from graders.ledger.tables import submissions

CASES = 12
DAY = 86400.0
SEED = 7
BATCH = 5000
THREADS = 400
Row = dict[str, Any]


@dataclass(frozen=True)
class Term:
    """Who and what the rows are about. `planted` are two questions of `chapter` whose key is wrong."""

    course: Course
    section: SectionId
    staff: AccountId
    assigned: tuple[Assignment, ...]
    people: int
    submissions: int
    chapter: Chapter
    planted: tuple[str, ...]

    @property
    def labs(self) -> tuple[Assignment, ...]:
        return tuple(one for one in self.assigned if one.kind is Kind.EXERCISE)


def name_learner(place: int) -> str:
    """The id of a learner, and of their account."""
    return f"{place:032x}"


def plant(course: Course) -> tuple[Chapter, tuple[str, ...]]:
    """The chapter with most questions, and two of them that have options and one right answer."""
    chapter = max(course.chapters, key=lambda one: len(one.index.questions))
    choices = [one.id for one in chapter.index.questions.values() if isinstance(one, Choice)]
    return chapter, tuple(choices[:2])


def load_term(connection: Connection, term: Term) -> dict[str, int]:
    """Write all rows. How many of each table."""
    draw = random.Random(SEED)
    abilities = [draw.gauss(0, 1) for _ in range(term.people)]
    handed_in = list(_submissions(draw, term, abilities))
    filled: list[tuple[Table, Iterable[Row]]] = [
        (learners, ({"id": name_learner(place), "created_at": _start()} for place in range(term.people))),
        (accounts, map(_account, range(term.people))),
        (memberships, (_membership(term, place) for place in range(term.people))),
        (roster, (_line(term, place) for place in range(term.people))),
        (submissions, handed_in),
        (answers, sorted(_answers(draw, term, abilities), key=lambda row: float(row["answered_at"]))),
        (predictions, _predictions(draw, term, abilities)),
        (readings, _readings(draw, term)),
        (cell_runs, _cell_runs(draw, term)),
        (comments, _comments(draw, term, handed_in)),
        (threads, _threads(draw, term)),
        (posts, _posts(draw, term)),
        (reports, _reports(draw, term)),
        (allowances, _allowances(draw, term)),
        (overrides, _overrides(draw, term)),
        (audit, _audit(draw, term)),
        (regrades, [_regrade(term)]),
        (regrade_items, _regrade_items(draw, term, handed_in)),
    ]
    return {table.name: _fill(connection, table, rows) for table, rows in filled}


def _fill(connection: Connection, table: Table, rows: Iterable[Row]) -> int:
    listed = list(rows)
    for start in range(0, len(listed), BATCH):
        connection.execute(insert(table), listed[start : start + BATCH])
    return len(listed)


def _start() -> float:
    return NOW.timestamp() - WEEKS * 7 * DAY


def _any_time(draw: random.Random) -> float:
    return draw.uniform(_start(), NOW.timestamp())


def _account(place: int) -> Row:
    name = name_learner(place)
    shown = f"Learner {place:04}"
    return {"id": name, "learner": name, "name": shown, "name_key": shown.casefold(), "made_at": _start()}


def _membership(term: Term, place: int) -> Row:
    one = {"section": term.section, "account": name_learner(place), "role": Role.LEARNER.value}
    return one | {"status": ACTIVE, "added_at": _start(), "source": "csv"}


def _line(term: Term, place: int) -> Row:
    words = {"name": f"Learner {place:04}", "email": f"l{place:04}@example.org", "student_number": f"{place:07}"}
    ids = {"id": name_learner(place), "section": term.section, "account": name_learner(place)}
    return {**ids, **words, "source": "csv", "added_at": _start()}


@cache
def _result(exercise: str, passed: int, code: str) -> str:
    """A verdict as the grader would write it."""
    finding = Finding(code=code, short="The gradient is not the expected one.", long="Look at where it adds up.")
    cases = tuple(
        CaseResult(
            name=f"case {number}",
            idea="A tensor that is used twice gets both gradients.",
            passed=number < passed,
            public=number < 4,
            input="x = tensor([1.0, 2.0, 3.0])" * (number < 4),
            got="tensor([2.0, 4.0, 6.0])" * (number < 4),
            expected="tensor([2.0, 4.0, 6.0])" * (number < 4),
            finding=None if number < passed else finding,
        )
        for number in range(CASES)
    )
    outcome = Outcome.PASSED if passed == CASES else Outcome.WRONG_ANSWER
    whole = None if passed == CASES else finding
    name = ExerciseName(exercise)
    return Verdict(outcome=outcome, exercise=name, finding=whole, cases=cases, cases_total=CASES).model_dump_json()


def _submissions(draw: random.Random, term: Term, abilities: list[float]) -> Iterator[Row]:
    """In the order of time, as a term would write them. Each learner has a text of their own for each exercise."""
    passing = [found for found in read_passing() if len(found) > 2]
    texts = [write_submission(passing, draw) for _ in range(term.people)]
    findings = {lab.target: list(term.course.exercises[lab.target].manifest.findings) for lab in term.labs}
    when: list[tuple[float, int, int]] = []
    for _ in range(term.submissions):
        place, number = draw.randrange(term.people), draw.randrange(len(term.labs))
        when.append((_draw_time(draw, term.labs[number]), place, number))
    for order, (at, place, number) in enumerate(sorted(when)):
        has_passed = draw.random() < _knows(abilities[place], 0.7)
        passed = CASES if has_passed else draw.randrange(CASES)
        target = term.labs[number].target
        code = draw.choice(findings[target] or [Outcome.WRONG_ANSWER.value])
        source = f"# attempt {order}\n{texts[(place + 31 * number) % len(texts)]}"
        yield {
            "number": order + 1,
            "id": f"{order:032x}",
            "learner": name_learner(place),
            "idempotency_key": str(order),
            "kind": "grade",
            "exercise": target,
            "queue": "cpu",
            "priority": 0,
            "job": GradeJob(exercise=ExerciseName(target), source=source).model_dump_json(),
            "state": "finished",
            "claim_number": 1,
            "lost_workers": 0,
            "last_seq": 1,
            "submitted_at": at,
            "started_at": at + 0.1,
            "finished_at": at + 0.3,
            "outcome": "passed" if has_passed else "wrong_answer",
            "result": _result(target, passed, "" if has_passed else code),
            "cases_passed": passed,
            "cases_total": CASES,
        }


def _draw_time(draw: random.Random, one: Assignment) -> float:
    """Within the week before the due date; one in ten up to four days after it."""
    assert one.due_at is not None
    days = draw.uniform(0, 4) if draw.random() < 0.1 else -draw.uniform(0, 7)
    return min(one.due_at.timestamp() + days * DAY, NOW.timestamp() - 60)


def _knows(ability: float, difficulty: float) -> float:
    """The chance that somebody knows it: a logistic curve with the slope 1.7."""
    return 1 / (1 + math.exp(1.7 * (difficulty - ability)))


def _difficulty(name: str) -> float:
    return random.Random(name).uniform(-1.5, 1.0)


def _is_right(draw: random.Random, ability: float, name: str, planted: Collection[str]) -> bool:
    """Whoever does not know guesses one in four. With a wrong key only guesses can be right."""
    knows = draw.random() < _knows(ability, _difficulty(name))
    guessed = draw.random() < 0.25
    return (not knows and guessed) if name in planted else (knows or guessed)


def _weeks_of(course: Course) -> Iterator[tuple[Chapter, float]]:
    """Each chapter with the time at which the class reads it."""
    step = WEEKS * 7 * DAY / len(course.chapters)
    return ((chapter, _start() + place * step) for place, chapter in enumerate(course.chapters))


def _takes_part(place: int, chapter: Chapter) -> bool:
    return random.Random(f"{place} {chapter.slug}").random() < 0.85


def _answers(draw: random.Random, term: Term, abilities: list[float]) -> Iterator[Row]:
    """First answers, and a second one by most of those who were wrong. An open answer has only its ticks."""
    for chapter, from_at in _weeks_of(term.course):
        for place, ability in enumerate(abilities):
            if not _takes_part(place, chapter):
                continue
            for asked in chapter.index.questions.values():
                right = _is_right(draw, ability, asked.id, term.planted)
                tries = (right,) if right or draw.random() < 0.3 else (right, draw.random() < 0.6)
                for later, correct in enumerate(tries):
                    is_open = asked.kind == "open"
                    values = _choose(draw, asked, correct) if isinstance(asked, Choice | Several) else ("1",)
                    yield {
                        "learner": name_learner(place),
                        "chapter": chapter.slug,
                        "question": asked.id,
                        "response": dump_response(QuestionResponse(values, "", ())),
                        "correct": None if is_open else correct,
                        "ticked": json.dumps([0]) if is_open else None,
                        "answered_at": from_at + draw.uniform(0, 3) * DAY + later * 60,
                        "content_hash": asked.content_hash,
                        "confidence": draw.choice(list(Confidence)).value,
                    }


def _choose(draw: random.Random, asked: Choice | Several, right: bool) -> tuple[str, ...]:
    found = [one.id for one in asked.options if one.right]
    wrong = [one.id for one in asked.options if not one.right]
    return tuple(found) if right or not wrong else (draw.choice(wrong),)


def _predictions(draw: random.Random, term: Term, abilities: list[float]) -> Iterator[Row]:
    for chapter, from_at in _weeks_of(term.course):
        for place, ability in enumerate(abilities):
            for asked in chapter.index.predicts.values() if _takes_part(place, chapter) else ():
                right = _is_right(draw, ability, asked.id, ())
                yield {
                    "learner": name_learner(place),
                    "chapter": chapter.slug,
                    "predict": asked.id,
                    "option": draw.choice([one.id for one in asked.options if one.right is right]),
                    "confidence": draw.choice(list(Confidence)).value,
                    "committed_at": from_at + draw.uniform(0, 3) * DAY,
                    "content_hash": asked.content_hash,
                }


def _readings(draw: random.Random, term: Term) -> Iterator[Row]:
    for chapter, from_at in _weeks_of(term.course):
        anchors = sorted(chapter.index.anchors)
        for place in range(term.people):
            if _takes_part(place, chapter):
                at = from_at + draw.uniform(0, 3) * DAY
                row = {"learner": name_learner(place), "chapter": chapter.slug, "anchor": draw.choice(anchors)}
                yield row | {"seen_at": at, "finished_at": at if draw.random() < 0.8 else None}


def _cell_runs(draw: random.Random, term: Term) -> Iterator[Row]:
    number = 0
    for chapter, from_at in _weeks_of(term.course):
        for place in range(term.people):
            for cell in chapter.index.cells if _takes_part(place, chapter) else ():
                if draw.random() < 0.5:
                    number += 1
                    row = {"id": f"{number:032x}", "learner": name_learner(place), "chapter": chapter.slug}
                    yield row | {"cell": cell, "started_at": from_at + draw.uniform(0, 3) * DAY}


def _comments(draw: random.Random, term: Term, handed_in: list[Row]) -> Iterator[Row]:
    for one in draw.sample(handed_in, min(500, len(handed_in))):
        row = {"section": term.section, "learner": one["learner"], "submission": one["id"]}
        row |= {"exercise": one["exercise"], "line": draw.randint(1, 40), "text": "Why is this line here?"}
        yield row | {"made_by": term.staff, "made_at": one["submitted_at"] + DAY}


def _places(draw: random.Random, term: Term) -> Row:
    """A block of the course, as a question or a report names it."""
    chapter = draw.choice(term.course.chapters)
    block = draw.choice([key for key in chapter.keys if key])
    named = {"page": f"chapters/{chapter.slug}", "block": block, "content_hash": chapter.hashes[block]}
    return named | {"course_version": chapter.version}


def _threads(draw: random.Random, term: Term) -> Iterator[Row]:
    for number in range(1, THREADS + 1):
        at = _any_time(draw)
        row = {"number": number, "section": term.section, "account": name_learner(draw.randrange(term.people))}
        row |= {"audience": draw.choice(("staff", "section")), "asked_at": at}
        yield row | _places(draw, term) | {"resolved_at": at + DAY if draw.random() < 0.7 else None}


def _posts(draw: random.Random, term: Term) -> Iterator[Row]:
    for number in range(1, THREADS + 1):
        for later in range(draw.randint(1, 5)):
            by_staff = later > 0 and draw.random() < 0.5
            writer = term.staff if by_staff else name_learner(draw.randrange(term.people))
            row = {"thread": number, "account": writer, "by_staff": by_staff}
            yield row | {"text": "Why does the gradient add up here?", "posted_at": _any_time(draw)}


def _reports(draw: random.Random, term: Term) -> Iterator[Row]:
    for _ in range(120):
        row = {"learner": name_learner(draw.randrange(term.people)), **_places(draw, term)}
        yield row | {"text": "This sentence seems wrong.", "reported_at": _any_time(draw)}


def _cells(draw: random.Random, term: Term, number: int) -> list[Row]:
    """So many cells of the gradebook, no one twice."""
    every = range(term.people * len(term.assigned))
    chosen = draw.sample(every, min(number, len(every)))
    return [
        {"assignment": term.assigned[one // term.people].id, "account": name_learner(one % term.people)}
        for one in chosen
    ]


def _allowances(draw: random.Random, term: Term) -> Iterator[Row]:
    dues: Mapping[str, float] = {one.id: one.due_at.timestamp() for one in term.assigned if one.due_at}
    for cell in _cells(draw, term, 300):
        row = {"due_at": dues[cell["assignment"]] + 3 * DAY, "excused": draw.random() < 0.1, "reason": "ill"}
        yield cell | row | {"made_by": term.staff, "made_at": _any_time(draw)}


def _overrides(draw: random.Random, term: Term) -> Iterator[Row]:
    for cell in _cells(draw, term, 200):
        row = {"points": float(draw.randint(0, 4)), "reason": "shown in person"}
        yield cell | row | {"made_by": term.staff, "made_at": _any_time(draw)}


def _audit(draw: random.Random, term: Term) -> Iterator[Row]:
    for at in sorted(_any_time(draw) for _ in range(3000)):
        row = {"at": at, "actor": term.staff, "section": term.section, "verb": "override a grade"}
        yield row | {
            "object": name_learner(draw.randrange(term.people)),
            "before": "3",
            "after": "4",
            "reason": "why",
        }


def _regrade(term: Term) -> Row:
    row = {"number": 1, "assignment": term.labs[0].id, "scope": "newest", "policy": "raise", "state": "applied"}
    row |= {"reason": "a case was wrong", "exercise_digest": "0" * 16, "made_by": term.staff}
    return row | {"made_at": NOW.timestamp() - DAY, "ended_at": NOW.timestamp() - DAY / 2}


def _regrade_items(draw: random.Random, term: Term, handed_in: list[Row]) -> Iterator[Row]:
    """The newest submission of each learner to the first exercise."""
    newest = {one["learner"]: one for one in handed_in if one["exercise"] == term.labs[0].target}
    for learner, one in newest.items():
        row = {"regrade": 1, "submission": one["id"], "learner": learner, "job": f"{one['number']:032x}"}
        row |= {"outcome_before": one["outcome"], "passed_before": one["cases_passed"], "total_before": CASES}
        better = draw.random() < 0.1 and one["outcome"] != "passed"
        after = ("passed", CASES) if better else (one["outcome"], one["cases_passed"])
        yield row | {"outcome_after": after[0], "passed_after": after[1], "total_after": CASES, "counts": better}

"""A database of the version before keeps every row: each table is filled by its old columns, then migrated."""

import hashlib
import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic import command

from app.storage.database import make_config, migrate, open_for_migration
from app.storage.store import Store
from graders.contract.model import LearnerId, SubmissionId
from graders.ledger import Database, open_ledger

BEFORE = "0002"
TOKEN = "the-token-in-a-cookie"
ADA = hashlib.sha256(TOKEN.encode()).hexdigest()
NOW = 1_790_000_000.0
VERDICT = {
    "kind": "verdict",
    "outcome": "wrong_answer",
    "exercise": "double",
    "cases": [
        {"name": "one", "idea": "doubles", "passed": True, "public": True},
        {"name": "two", "idea": "negatives", "passed": False, "public": False},
    ],
    "cases_total": 5,
}
PASSED = {
    "kind": "verdict",
    "outcome": "passed",
    "exercise": "double",
    "cases": VERDICT["cases"][:1],
    "cases_total": 1,
}
GRADE = {"kind": "grade", "exercise": "double", "source": "x = 1"}


def submission(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "number": number,
        "id": f"{number:032}",
        "learner": ADA,
        "token": f"token-{number}",
        "kind": "grade",
        "exercise": "double",
        "queue": "cpu",
        "priority": 0,
        "job": json.dumps(GRADE),
        "state": "finished",
        "attempt": number,
        "deaths": number - 1,
        "last_seq": 3,
        "submitted_at": NOW,
        "started_at": NOW,
        "finished_at": NOW + 1,
        "outcome": "wrong_answer",
        "result": json.dumps(VERDICT),
    } | fields


CHECK = {"kind": "run", "exercise": None, "job": json.dumps(GRADE | {"public_only": True}), "outcome": "ok"}
RUN = {"kind": "run", "exercise": None, "job": json.dumps({"kind": "run", "source": "x"}), "outcome": "ok"}
ENDED = json.dumps({"kind": "run_end", "outcome": "ok"})

ROWS: dict[str, list[dict[str, Any]]] = {
    "learners": [{"id": ADA, "created_at": NOW}, {"id": "bob", "created_at": NOW}],
    "submissions": [
        submission(1),
        submission(2, outcome="passed", result=json.dumps(PASSED)),
        submission(3, **CHECK),
        submission(4, **RUN, result=ENDED),
        submission(5, state="queued", outcome=None, result=None, finished_at=None, learner="bob"),
    ],
    "events": [
        {"submission": f"{1:032}", "seq": seq, "kind": "queued", "body": "{}", "at": NOW} for seq in (1, 2, 3)
    ],
    "workers": [{"worker": "w", "queue": "cpu", "slots": 2, "hello": "{}", "seen_at": NOW}],
    "predictions": [{"learner": ADA, "chapter": "one", "predict": "p", "option": "a", "committed_at": NOW}],
    "answers": [
        {
            "number": 7,
            "learner": ADA,
            "chapter": "one",
            "question": "q",
            "given": json.dumps({"values": ["b"], "text": "", "node_names": []}),
            "held": 1,
            "answered_at": NOW,
        }
    ],
    "drafts": [{"learner": ADA, "place": "exercises/double", "text": "half", "saved_at": NOW}],
    "cell_runs": [{"id": "run", "learner": ADA, "chapter": "one", "cell": "c", "started_at": NOW}],
    "readings": [{"learner": ADA, "chapter": "one", "anchor": "middle", "seen_at": NOW}],
    "hints": [{"learner": ADA, "exercise": "double", "number": 1, "opened_at": NOW}],
}
RENAMED = {
    "submissions": {"token": "idempotency_key", "attempt": "claim_number", "deaths": "lost_workers"},
    "answers": {"given": "response", "held": "correct"},
    "drafts": {"place": "key"},
}


def read_tables(path: Path) -> dict[str, list[dict[str, Any]]]:
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    tables = {
        name: [dict(row) for row in connection.execute(f"SELECT * FROM {name}")] for (name,) in names.fetchall()
    }
    connection.close()
    return tables


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Every table of the version before, each with rows."""
    path = tmp_path / "unwind.sqlite3"
    with open_for_migration(f"sqlite:///{path}") as connection:
        command.upgrade(make_config(connection), BEFORE)
    connection = sqlite3.connect(path)
    for table, rows in ROWS.items():
        for row in rows:
            marks = ", ".join("?" for _ in row)
            connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    connection.commit()
    connection.close()
    assert read_tables(path).keys() == ROWS.keys() | {"alembic_version"}
    return path


def migrated(path: Path) -> dict[str, list[dict[str, Any]]]:
    migrate(f"sqlite:///{path}", path.parent)
    return read_tables(path)


def test_every_row_keeps_every_value(database: Path) -> None:
    before = read_tables(database)

    after = migrated(database)

    for table, rows in ROWS.items():
        assert len(after[table]) == len(rows), table
        for old, new in zip(before[table], after[table], strict=True):
            kept = {RENAMED.get(table, {}).get(name, name): value for name, value in old.items()}
            if table == "submissions" and old["number"] == 3:
                kept |= {"kind": "check", "exercise": "double"}
            assert kept.items() <= new.items()


def test_a_public_check_has_its_kind_and_its_exercise(database: Path) -> None:
    rows = migrated(database)["submissions"]

    assert [(row["kind"], row["exercise"]) for row in rows[2:4]] == [("check", "double"), ("run", None)]


def test_finished_verdicts_get_their_scores(database: Path) -> None:
    rows = migrated(database)["submissions"]

    assert [(row["cases_passed"], row["cases_total"], row["credit"]) for row in rows] == [
        (1, 5, 0.0),
        (1, 1, 1.0),
        (None, None, None),
        (None, None, None),
        (None, None, None),
    ]


def test_a_learner_is_numbered_on_after_the_migration(database: Path) -> None:
    """AUTOINCREMENT survives the copy of the table: the number of a deleted submission is never given again."""
    migrated(database)
    connection = sqlite3.connect(database)
    connection.execute("DELETE FROM submissions WHERE number = 5")
    row = submission(6, learner="bob") | {"number": None}
    names = [RENAMED["submissions"].get(name, name) for name in row]
    marks = ", ".join("?" for _ in row)
    connection.execute(f"INSERT INTO submissions ({', '.join(names)}) VALUES ({marks})", tuple(row.values()))
    assert connection.execute("SELECT max(number) FROM submissions").fetchone() == (6,)
    connection.close()


async def test_an_old_cookie_finds_its_learner_and_what_is_theirs(database: Path) -> None:
    migrated(database)
    opened = Database(f"sqlite:///{database}")
    store = Store(opened)

    session = await store.sessions.find(hashlib.sha256(TOKEN.encode()).hexdigest(), datetime.now(UTC))

    assert session is not None
    assert session.learner == ADA
    assert await store.drafts(LearnerId(ADA), "exercises/") == {"exercises/double": "half"}
    [answer] = (await store.history(LearnerId(ADA), "one")).answers
    assert (answer.response.values, answer.correct) == (("b",), True)
    await opened.close()


async def test_the_ledger_reads_what_it_kept(database: Path, tmp_path: Path) -> None:
    migrated(database)
    ledger = open_ledger(f"sqlite:///{database}", tmp_path / "doorbell")

    found = await ledger.find(SubmissionId(f"{1:032}"))
    finished = await ledger.finished_submissions(LearnerId(ADA))

    assert found is not None
    assert found.claim_number == 1
    assert [each.outcome for each in finished] == ["wrong_answer", "passed"]
    await ledger.close()


def test_the_way_back_keeps_every_row_too(database: Path) -> None:
    before = read_tables(database)
    migrated(database)
    with open_for_migration(f"sqlite:///{database}") as connection:
        command.downgrade(make_config(connection), BEFORE)

    after = read_tables(database)

    assert after == before

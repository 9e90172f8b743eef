"""A grader with its own PostgreSQL role does all of a grader's work, and can read and change nothing else."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from postgresql_server import Server

from app.storage.database import migrate
from app.storage.worker_role import NoSuchRole
from graders.contract.events import EventKind
from graders.contract.hello import WorkerHello
from graders.contract.jobs import Flavour, GradeJob, Queue
from graders.contract.model import ExerciseName, LearnerId, SubmissionId
from graders.contract.results import Outcome, Verdict
from graders.ledger import Claim, Ledger, Policy, State, open_ledger

pytestmark = [
    pytest.mark.postgresql,
    pytest.mark.parametrize("database_url", [pytest.param("postgresql")], indirect=True),
]
ROLE = "grader_of_tests"
JOB = GradeJob(exercise=ExerciseName("double"), source="answer = 2", exercise_digest="")
PASSED = Verdict(outcome=Outcome.PASSED, exercise="double")
HELLO = WorkerHello(
    worker="w1", queue=Queue.CPU, slots=1, flavours=(Flavour.PLAIN,), profile="P2", memory_cgroup=False,
    python="3.11", torch="none", device="cpu", self_test_passed=1, self_test_total=1,
)  # fmt: skip


@pytest.fixture
def role_url(database_url: str, postgresql: Server, tmp_path: Path) -> str:
    """The database's URL for the role, after the command that an operator runs."""
    postgresql.execute(
        f"DO $$ BEGIN CREATE ROLE {ROLE} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
    )
    migrate(database_url, tmp_path, ROLE)
    return database_url.replace("postgresql://unwind@", f"postgresql://{ROLE}@")


@pytest.fixture
async def both(database_url: str, role_url: str, tmp_path: Path) -> AsyncIterator[tuple[Ledger, Ledger]]:
    """A website's ledger, and a grader's in its role; its leases are over as soon as they are given."""
    opened = open_ledger(database_url, tmp_path), open_ledger(role_url, tmp_path, Policy(lease_seconds=-1.0))
    yield opened
    for ledger in opened:
        await ledger.close()


async def take(grader: Ledger) -> Claim:
    """The first submission in the queue, claimed, as a worker takes it: by its ticket."""
    claims: asyncio.Queue[Claim] = asyncio.Queue()
    stopping = asyncio.Event()

    async def handle(submission: SubmissionId) -> None:
        claim = await grader.claim(submission, "w1")
        assert claim is not None
        claims.put_nowait(claim)
        stopping.set()

    async with asyncio.timeout(20):
        await grader.dispatcher.worker(Queue.CPU, 1, handle, stopping)
    return claims.get_nowait()


async def test_a_grader_in_its_role_judges_releases_and_reconciles(both: tuple[Ledger, Ledger]) -> None:
    site, grader = both
    accepted = await site.submit(LearnerId("ann"), "t", JOB)
    await grader.say_hello(HELLO)
    assert await grader.release(await take(grader))
    await take(grader)  # and is lost, so that it runs again
    assert (await grader.reconcile()).requeued == 1
    claim = await take(grader)
    assert await grader.add_events(claim, [(EventKind.CASE, "{}")])
    assert await grader.beat(claim)
    assert await grader.find_lost((claim,)) == ()
    assert await grader.finish(claim, PASSED)
    await grader.say_goodbye("w1")
    found = await site.find(accepted.id)
    assert found is not None
    assert (found.state, found.result) == (State.FINISHED, PASSED)


@pytest.mark.parametrize(
    "forbidden",
    [
        "SELECT * FROM accounts",
        "SELECT * FROM sessions",
        "SELECT * FROM learners",
        "DELETE FROM submissions",
        "DELETE FROM events",
        "UPDATE submissions SET learner = 'eve'",
        "UPDATE submissions SET job = '{}'",
        "UPDATE submissions SET priority = 1",
        "INSERT INTO submissions SELECT * FROM submissions",
        "UPDATE events SET body = ''",
        "UPDATE alembic_version SET version_num = '0000'",
        "CREATE TABLE mine (n int)",
        "TRUNCATE workers",
    ],
)
def test_a_grader_in_its_role_may_not(role_url: str, forbidden: str) -> None:
    with psycopg.connect(role_url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(forbidden)


def test_the_role_may_touch_these_tables_and_no_others(role_url: str) -> None:
    query = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND "
    rights = "has_table_privilege(oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')"
    with psycopg.connect(role_url) as connection:
        touched = {name for (name,) in connection.execute(query + rights)}
    assert touched == {
        "submissions", "events", "workers", "alembic_version",
        "procrastinate_jobs", "procrastinate_events", "procrastinate_periodic_defers",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("made", "before", "refusal"),
    [
        ("LOGIN CREATEROLE", (), r"can give itself more rights.*NOCREATEROLE"),
        ("LOGIN IN ROLE pg_read_all_data", (), r"can use accounts, .* through another role"),
        ("LOGIN", ("GRANT CREATE ON SCHEMA public TO PUBLIC",), r"REVOKE CREATE ON SCHEMA public FROM PUBLIC"),
    ],
)
def test_a_role_with_rights_from_elsewhere_is_refused(
    database_url: str, postgresql: Server, tmp_path: Path, made: str, before: tuple[str, ...], refusal: str
) -> None:
    role = "grader_with_more"
    postgresql.execute(f"CREATE ROLE {role} {made}")
    try:
        with psycopg.connect(database_url) as connection:
            for statement in before:
                connection.execute(statement)
        with pytest.raises(NoSuchRole, match=refusal):
            migrate(database_url, tmp_path, role)
    finally:
        postgresql.execute(f"DROP ROLE {role}")


@pytest.mark.usefixtures("database_url")
def test_the_website_s_own_role_is_refused_and_keeps_its_rights(postgresql: Server, tmp_path: Path) -> None:
    postgresql.execute("CREATE ROLE site_of_tests LOGIN", "CREATE DATABASE of_site OWNER site_of_tests")
    url = postgresql.url("of_site").replace("postgresql://unwind@", "postgresql://site_of_tests@")
    try:
        migrate(url, tmp_path)
        with pytest.raises(NoSuchRole, match="the website's own, or a member of it"):
            migrate(url, tmp_path, "site_of_tests")
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT count(*) FROM accounts").fetchone() == (0,)
    finally:
        postgresql.execute("DROP DATABASE of_site WITH (FORCE)", "DROP ROLE site_of_tests")


async def test_a_grader_cannot_change_what_has_ended_and_the_website_can(
    both: tuple[Ledger, Ledger], database_url: str, role_url: str
) -> None:
    site, grader = both
    await site.submit(LearnerId("ann"), "t", JOB)
    claim = await take(grader)
    assert await grader.finish(claim, PASSED)
    worse = "UPDATE submissions SET credit = 0"
    with psycopg.connect(role_url) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege, match="ended"):
        connection.execute(worse)
    with psycopg.connect(database_url) as connection:
        assert connection.execute(worse).rowcount == 1


def test_a_role_that_is_missing_or_a_superuser_is_refused(database_url: str, tmp_path: Path) -> None:
    with pytest.raises(NoSuchRole, match=r"no role 'nobody_here'.*CREATE ROLE nobody_here LOGIN"):
        migrate(database_url, tmp_path, "nobody_here")
    with pytest.raises(NoSuchRole, match="'unwind' is a superuser"):
        migrate(database_url, tmp_path, "unwind")

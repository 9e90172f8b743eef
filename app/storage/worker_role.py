"""The rights of a grader's own role on PostgreSQL: claim, beat, finish, add events and say hello, and nothing else.

A grader's host then knows a password that opens no account, no session and no learner's data beside the jobs: it can
neither read nor change the website's tables, and of a submission it can change only how it is judged.
"""

from typing import Final

from sqlalchemy import Connection, text

JUDGED_COLUMNS: Final = (
    "state",
    "claim_number",
    "lost_workers",
    "worker",
    "lease_until",
    "last_seq",
    "started_at",
    "finished_at",
    "outcome",
    "result",
    "cases_passed",
    "cases_total",
    "credit",
    "held_share",
)
"""What a worker writes of a submission's row: not whose it is, not its code, not its exercise, not its rank."""

_GRANTS: Final = (
    "SELECT ON submissions",
    f"UPDATE ({', '.join(JUDGED_COLUMNS)}) ON submissions",
    "SELECT, INSERT ON events",
    "SELECT, INSERT, UPDATE, DELETE ON workers",
    "SELECT ON alembic_version",
    # Procrastinate's functions run with their caller's rights, and its triggers too.
    "SELECT, INSERT, UPDATE, DELETE ON procrastinate_jobs",
    "SELECT, INSERT ON procrastinate_events",
    "SELECT, UPDATE ON procrastinate_periodic_defers",
    "USAGE ON SEQUENCE procrastinate_jobs_id_seq, procrastinate_events_id_seq",
)
_OWNED: Final = "ALL TABLES IN SCHEMA public", "ALL SEQUENCES IN SCHEMA public"


class NoSuchRole(Exception):
    """The database's server has no role of this name; the message says how to make it."""


def limit_worker_role(connection: Connection, role: str) -> None:
    """Give the role exactly these rights, whatever it had. Raises NoSuchRole. Run it after each migration."""
    known = connection.execute(text("SELECT rolsuper FROM pg_roles WHERE rolname = :role"), {"role": role}).first()
    if known is None:
        remedy = f"CREATE ROLE {role} LOGIN PASSWORD '...'"
        raise NoSuchRole(f"The server has no role {role!r}. As an administrator, run: {remedy}")
    if known.rolsuper:
        raise NoSuchRole(f"The role {role!r} is a superuser, whom nothing limits. Make another one for the graders.")
    name = connection.dialect.identifier_preparer.quote_identifier(role)
    for owned in _OWNED:
        connection.exec_driver_sql(f"REVOKE ALL ON {owned} FROM {name}")
    connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA public TO {name}")
    for rights in _GRANTS:
        connection.exec_driver_sql(f"GRANT {rights} TO {name}")

"""The rights of a grader's own role on PostgreSQL: claim, beat, finish, add events and say hello, and nothing else.

A grader's host then knows a password that opens no account, no session and no learner's data beside the jobs: it can
neither read nor change the website's tables, and of a submission it can change only how it is judged, until it ends.
What it can still do, because a grader has to: read and end any submission that waits or runs, write and delete
tickets, and make others wait by locks.
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


_KEEP_FINISHED: Final = (
    "CREATE OR REPLACE FUNCTION unwind_keep_finished() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
    "RAISE insufficient_privilege USING MESSAGE = 'a grader may not change a submission that has ended'; END $$",
    "CREATE OR REPLACE TRIGGER unwind_keep_finished BEFORE UPDATE ON submissions FOR EACH ROW "
    "WHEN (old.state = 'finished' AND current_user = {role}) EXECUTE FUNCTION unwind_keep_finished()",
)
_ROLE: Final = text(
    "SELECT rolsuper, rolcreaterole OR rolbypassrls OR rolreplication AS mighty, "
    "pg_has_role(oid, current_user, 'MEMBER') AS is_owner FROM pg_roles WHERE rolname = :role"
)
_BEYOND: Final = text(
    "SELECT string_agg(relname, ', ' ORDER BY relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace "
    "AND relkind IN ('r', 'p', 'v', 'm') AND NOT relname = ANY(:granted) "
    "AND (has_any_column_privilege(:role, oid, 'SELECT, INSERT, UPDATE') "
    "OR has_table_privilege(:role, oid, 'DELETE, TRUNCATE'))"
)
_MAY_CREATE: Final = text("SELECT has_schema_privilege(:role, 'public', 'CREATE')")


class NoSuchRole(Exception):
    """The database's server has no role of this name that can be limited; the message says what to do."""


def limit_worker_role(connection: Connection, role: str) -> None:
    """Give the role exactly these rights, whatever it had. Run it after each migration.

    Raises NoSuchRole, also for a role whose rights come from elsewhere; then the transaction must not be committed.
    """
    _check_role(connection, role)
    name = connection.dialect.identifier_preparer.quote_identifier(role)
    for owned in _OWNED:
        connection.exec_driver_sql(f"REVOKE ALL ON {owned} FROM {name}")
    connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA public TO {name}")
    for rights in _GRANTS:
        connection.exec_driver_sql(f"GRANT {rights} TO {name}")
    literal = "'" + role.replace("'", "''") + "'"
    for statement in _KEEP_FINISHED:
        connection.exec_driver_sql(statement.format(role=literal))
    _check_rights(connection, role)


def _check_role(connection: Connection, role: str) -> None:
    known = connection.execute(_ROLE, {"role": role}).first()
    if known is None:
        remedy = f"CREATE ROLE {role} LOGIN PASSWORD '...'"
        raise NoSuchRole(f"The server has no role {role!r}. As an administrator, run: {remedy}")
    another = "Make another one for the graders."
    if known.rolsuper:
        raise NoSuchRole(f"The role {role!r} is a superuser, whom nothing limits. {another}")
    if known.is_owner:
        raise NoSuchRole(
            f"The role {role!r} is the website's own, or a member of it, and would lose its rights. {another}"
        )
    if known.mighty:
        remedy = f"ALTER ROLE {role} NOCREATEROLE NOBYPASSRLS NOREPLICATION"
        raise NoSuchRole(f"The role {role!r} can give itself more rights. As an administrator, run: {remedy}")


def _check_rights(connection: Connection, role: str) -> None:
    """What a role has through another role, or because everybody has it, is not ours to take."""
    granted = [rights.partition(" ON ")[2].split(", ") for rights in _GRANTS if "SEQUENCE" not in rights]
    tables = [table for tables in granted for table in tables]
    beyond = connection.execute(_BEYOND, {"role": role, "granted": tables}).scalar_one()
    if beyond:
        raise NoSuchRole(f"The role {role!r} can use {beyond} through another role: REVOKE that one from it.")
    if connection.execute(_MAY_CREATE, {"role": role}).scalar_one():
        remedy = "REVOKE CREATE ON SCHEMA public FROM PUBLIC"
        raise NoSuchRole(
            f"The role {role!r} may make functions that the website would call. As an administrator, run: {remedy}"
        )

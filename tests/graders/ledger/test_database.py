"""The database is opened durable, with one writer, the host's clocks and the indexes that its queries need."""

from sqlalchemy import Connection, select
from sqlalchemy.dialects import sqlite

from graders.ledger.database import Database


async def test_sqlite_is_opened_durable_with_one_writer_and_readers_that_cannot_write(tmp_path) -> None:
    database = Database(f"sqlite:///{tmp_path}/x.sqlite3")
    names = ("journal_mode", "synchronous", "foreign_keys", "query_only")

    def read_pragmas(connection: Connection) -> list[object]:
        return [connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in names]

    try:
        assert await database.write(read_pragmas) == ["wal", 2, 1, 0]
        assert (await database.read(read_pragmas))[-1] == 1
        assert database.writer.pool.size() == 1
    finally:
        await database.close()


def test_a_waiting_row_is_found_by_its_partial_index(tmp_path) -> None:
    import sqlite3

    from sqlalchemy import create_engine, func

    from graders.ledger.tables import metadata, queued, submissions, unfinished

    engine = create_engine(f"sqlite:///{tmp_path}/x.sqlite3")
    metadata.create_all(engine)
    engine.dispose()
    connection = sqlite3.connect(tmp_path / "x.sqlite3")
    row = submissions.c
    for statement, index in (
        (select(row.id).where(row.queue == "cpu", queued).order_by(row.priority.desc()), "ix_submissions_queued"),
        (select(func.count()).where(row.learner == "ann", unfinished), "ix_submissions_pending"),
    ):
        text = str(statement.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True}))
        plan = " ".join(line[3] for line in connection.execute(f"EXPLAIN QUERY PLAN {text}"))
        assert index in plan
    connection.close()

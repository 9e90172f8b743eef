"""A PostgreSQL server of the tests' own: made in a folder, reached through its socket, gone at the end.

Its files are not synced: a server that is killed loses nothing by that, and no test cuts the power.
"""

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

USER = "unwind"
SETTINGS = "-c listen_addresses= -c fsync=off -c full_page_writes=off -c max_connections=200"
MISSING = "PostgreSQL is not installed here, so nothing was run on it (Debian, Ubuntu: apt install postgresql)"


def find_programs() -> Path | None:
    """The folder of initdb and pg_ctl; Debian keeps them out of PATH."""
    found = shutil.which("pg_ctl")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


class Server:
    """One cluster. It refuses to run as root, so root starts it as the user that the package made for it."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self._programs = programs
        self._user = "postgres" if os.geteuid() == 0 else None
        if self._user:
            who = pwd.getpwnam(self._user)
            os.chown(folder, who.pw_uid, who.pw_gid)

    def make(self) -> None:
        self._run("initdb", "-D", "data", "-A", "trust", "-U", USER, "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")

    def start(self) -> None:
        options = f"-k {self.folder} {SETTINGS}"
        self._run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")

    def stop(self, how: str = "immediate") -> None:
        """`immediate` is a crash: no transaction ends, and the next start recovers."""
        self._run("pg_ctl", "-D", "data", "-w", "-m", how, "stop")

    def is_running(self) -> bool:
        """A server that finds no room for its log ends by itself."""
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def dump(self, database: str, file: Path) -> None:
        """A backup while the server runs, as docs/operating.md has it."""
        self._run("pg_dump", "--format=custom", f"--file={file}", "-h", str(self.folder), "-U", USER, database)

    def restore(self, file: Path, database: str) -> None:
        self.execute(f"CREATE DATABASE {database}")
        self._run("pg_restore", f"--dbname={database}", "-h", str(self.folder), "-U", USER, str(file))

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        group = "postgres" if self._user else None
        # A file instead of a pipe: the server inherits it and would hold a pipe open.
        with (self.folder / "commands.log").open("ab") as log:
            done = subprocess.run(
                command, cwd=self.folder, user=self._user, group=group, extra_groups=[] if group else None,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        assert done.returncode == 0, (self.folder / "commands.log").read_text()[-2000:]

    def url(self, database: str) -> str:
        return f"postgresql://{USER}@/{database}?host={self.folder}"

    def execute(self, *statements: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    @contextmanager
    def database(self, template: str = "template1") -> Iterator[str]:
        """The URL of a new database, a copy of `template`."""
        name = f"t_{secrets.token_hex(6)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY WAL_LOG")
        yield self.url(name)
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def run_server(programs: Path, folder: Path | None = None) -> Iterator[Server]:
    """In an empty folder, or one of its own; what is in it is gone at the end."""
    folder = folder or Path(tempfile.mkdtemp(prefix="unwind-pg-"))
    server = Server(folder, programs)
    try:
        server.make()
        server.start()
        yield server
        if server.is_running():
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)

"""What operators and clients read about the website is complete: a setting or an endpoint left out fails here."""

import contextlib
import re
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

from app.main import API
from app.settings import Settings
from app.web.edge.rates import PER_MINUTE
from graders.contract.settings import GraderSettings

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_every_setting_is_documented_and_nothing_else() -> None:
    documented = set(re.findall(r"^\| `(UNWIND_[A-Z_]+)`", (DOCS / "settings.md").read_text(encoding="utf-8"), re.M))

    fields = {*Settings.model_fields, *GraderSettings.model_fields}
    assert documented == {f"UNWIND_{name.upper()}" for name in fields}


def test_the_backup_that_is_documented_copies_a_database_in_use(tmp_path: Path) -> None:
    text = (DOCS / "operating.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^\.venv/bin/python (-c 'import sqlite3.*)$", text, re.M)
    *program, source, copy = shlex.split(line)
    database = sqlite3.connect(tmp_path / Path(source).name)
    with contextlib.closing(database):
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE kept (word)")
        database.execute("INSERT INTO kept VALUES ('newest')")
        database.commit()

        names = [str(tmp_path / Path(name).name) for name in (source, copy)]
        subprocess.run([sys.executable, *program, *names], check=True)

    with contextlib.closing(sqlite3.connect(names[1])) as copied:
        assert copied.execute("SELECT word FROM kept").fetchall() == [("newest",)]


def test_every_endpoint_of_the_api_is_documented_and_nothing_else() -> None:
    text = (DOCS / "http-api.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `([A-Z]+ /api/[^`]+)`", text, re.M))

    served = {
        f"{method} {re.sub(r':path', '', route.path)}"
        for router in API
        for route in router.routes
        for method in getattr(route, "methods", ())
    }
    assert documented == served


def test_the_documented_limits_are_the_real_ones() -> None:
    text = (DOCS / "settings.md").read_text(encoding="utf-8")

    assert [count for count in PER_MINUTE.values() if not re.search(rf"\b{count} [a-z]", text)] == []

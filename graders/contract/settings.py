"""The settings that website and grader share, and the grader's own, whose names the website must know too."""

import importlib.util
import os
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from graders.contract.log_lines import LogForm

SQLITE: Final = ("sqlite", "sqlite+pysqlite")
POSTGRESQL: Final = ("postgresql", "postgres", "postgresql+psycopg")
FullPath = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]


class SharedSettings(BaseSettings):
    """Where the data and the course are. Each field is read from UNWIND_ and its name, such as UNWIND_DATA."""

    model_config = SettingsConfigDict(env_prefix="UNWIND_", frozen=True, extra="ignore")

    data: FullPath = Path("var").absolute()
    """The folder of the database, and of the sockets through which processes wake each other; made if missing."""
    course: FullPath = Path().absolute()
    """The folder with course.toml, chapters/ and exercises/."""
    database_url: str = ""
    """The URL of an SQLite file or of a PostgreSQL database; empty means a file in `data`."""
    event_hours: Annotated[float, Field(gt=0)] = 24.0
    """How long the events of a finished submission can be replayed; its result stays for good."""
    log: LogForm = LogForm.TEXT
    """How a line of the log is written."""

    @model_validator(mode="after")
    def _refuse_other_backends(self) -> Self:
        # The message names only the backend, because the rest of the URL may contain a password.
        backend = self.database_url.partition(":")[0]
        if backend not in ("", *SQLITE, *POSTGRESQL):
            known = "postgresql://user@host/name or sqlite:////path/to/a/file"
            remedy = f"write {known}, or unset it for a file in UNWIND_DATA"
            raise ValueError(f"UNWIND_DATABASE_URL begins with {backend[:40]!r}, which is no database here: {remedy}")
        if backend in POSTGRESQL and importlib.util.find_spec("psycopg") is None:
            remedy = "make environment-fleet installs it (docs/operating.md)"
            raise ValueError(f"UNWIND_DATABASE_URL names PostgreSQL, whose driver psycopg is not installed: {remedy}")
        return self

    @property
    def exercises(self) -> Path:
        return self.course / "exercises"

    @property
    def database(self) -> str:
        """The database's URL."""
        return self.database_url or f"sqlite:///{self.data / 'unwind.sqlite3'}"

    @property
    def wakeups_folder(self) -> Path:
        """The folder of the sockets through which the processes of one machine wake each other."""
        return self.data / "doorbell"


class GraderSettings(SharedSettings):
    """The settings of a grader's process. Built once, frozen, and passed on."""

    profile: Literal["P1", "P2", "P3"] | None = None
    """Confine no more strongly than this, to try out a weaker host; None uses the strongest that works here."""
    slots: Annotated[int, Field(ge=1, le=256)] = len(os.sched_getaffinity(0))
    """How many runs at a time; each slot has its own fork servers. A grader for the queue `gpu` has one."""
    card: Annotated[int, Field(ge=0, le=255)] | None = None
    """Which card the queue `gpu` uses, as the N of /dev/nvidiaN; None takes the only one."""

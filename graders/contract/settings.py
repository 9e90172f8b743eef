"""The settings that website and grader share, and the grader's own, whose names the website has to know too."""

import os
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

FullPath = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]


class SharedSettings(BaseSettings):
    """Where the data and the course are. Each field is the environment variable UNWIND_ and its name: UNWIND_DATA."""

    model_config = SettingsConfigDict(env_prefix="UNWIND_", frozen=True, extra="ignore")

    data: FullPath = Path("var").absolute()
    """Where the database and the sockets are by which the processes wake each other; made if missing."""
    course: FullPath = Path().absolute()
    """The folder with course.toml, chapters/ and exercises/."""
    database_url: str = ""
    """SQLAlchemy's, of an SQLite file; empty means one in `data`."""

    @model_validator(mode="after")
    def _refuse_other_backends(self) -> Self:
        # The backend alone is named in the refusal: what follows it may hold a password.
        backend = self.database_url.partition(":")[0]
        if backend not in ("", "sqlite", "sqlite+pysqlite"):
            remedy = "write sqlite:////path/to/a/file, or unset it for a database in UNWIND_DATA"
            raise ValueError(f"UNWIND_DATABASE_URL begins with {backend[:40]!r}, but only SQLite works: {remedy}")
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
        """Where the processes of one machine wake each other."""
        return self.data / "doorbell"


class GraderSettings(SharedSettings):
    """Of a grader's process. Built once, frozen, and handed on."""

    profile: Literal["P1", "P2", "P3"] | None = None
    """Confine no stronger than this, for trying out a weaker host; None takes the best that the machine has."""
    slots: Annotated[int, Field(ge=1, le=256)] = len(os.sched_getaffinity(0))
    """Runs at a time: one fork-server each."""

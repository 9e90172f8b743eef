"""The worker's settings: the only reader of the environment among the graders. Built once, frozen, and handed on."""

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings, SettingsConfigDict

FullPath = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]


class GraderSettings(BaseSettings):
    """Each field is the environment variable UNWIND_ and its name, e.g. UNWIND_SLOTS."""

    model_config = SettingsConfigDict(env_prefix="UNWIND_", frozen=True, extra="ignore")

    data: FullPath = Path("var").absolute()
    """Where the database and the doorbells lie, as for the website."""
    course: FullPath = Path().absolute()
    """The folder with exercises/."""
    database_url: str = ""
    """SQLAlchemy's; empty means SQLite in `data`."""
    profile: Literal["P1", "P2", "P3"] | None = None
    """Confine no stronger than this, for trying out a weaker host; None takes the best that the machine has."""
    slots: Annotated[int, Field(ge=1, le=256)] = len(os.sched_getaffinity(0))
    """Runs at a time: one fork-server each."""

    @property
    def exercises(self) -> Path:
        return self.course / "exercises"

    @property
    def database(self) -> str:
        """The database's URL."""
        return self.database_url or f"sqlite:///{self.data / 'unwind.sqlite3'}"

    @property
    def doorbells(self) -> Path:
        """Where the processes of one machine wake each other."""
        return self.data / "doorbell"


def read_settings() -> GraderSettings:
    """The settings of this process's environment. Raises pydantic.ValidationError, whose text names the variable."""
    return GraderSettings()

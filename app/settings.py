"""The website's settings: the only reader of the environment. Built once, frozen, and handed on."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

DEVELOPMENT_SECRET = "for development only, and public"
SHORTEST_SECRET = 32
PUBLIC_SECRET = (
    f"UNWIND_SECRET is the public default or shorter than {SHORTEST_SECRET} characters; outside development "
    "set your own, for example the output of: python3 -c 'import secrets; print(secrets.token_hex())'"
)


class Env(StrEnum):
    DEVELOPMENT = "development"
    PRODUCTION = "production"


FullPath = Annotated[Path, AfterValidator(lambda path: path.expanduser().absolute())]


class Settings(BaseSettings):
    """Each field is the environment variable UNWIND_ and its name, e.g. UNWIND_DATA."""

    model_config = SettingsConfigDict(env_prefix="UNWIND_", frozen=True, extra="ignore")

    env: Env = Env.DEVELOPMENT
    data: FullPath = Path("var").absolute()
    """Where the database, the doorbells and the logs lie; made if missing."""
    course: FullPath = Path().absolute()
    """The folder with course.toml, chapters/ and exercises/."""
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    database_url: str = ""
    """SQLAlchemy's; empty means SQLite in `data`."""
    secret: SecretStr = SecretStr(DEVELOPMENT_SECRET)
    """Signs the cookie that stands for a learner. A new secret makes every browser a new learner."""
    trust_proxy: bool = False
    """True behind a proxy that sets X-Forwarded-For itself: the last address in it is the reader's."""
    rate_factor: Annotated[float, Field(gt=0)] = 1.0
    """Widens or narrows every rate limit; a load test sets it high."""
    preview: bool = False
    """Read the chapters again when they change."""

    @model_validator(mode="after")
    def _refuse_public_secret(self) -> Self:
        secret = self.secret.get_secret_value()
        if self.env is Env.DEVELOPMENT:
            return self
        if secret == DEVELOPMENT_SECRET or len(secret) < SHORTEST_SECRET:
            raise ValueError(PUBLIC_SECRET)
        return self

    @property
    def database(self) -> str:
        """The database's URL."""
        return self.database_url or f"sqlite:///{self.data / 'unwind.sqlite3'}"

    @property
    def doorbells(self) -> Path:
        """Where the processes of one machine wake each other."""
        return self.data / "doorbell"

    @property
    def secure_cookies(self) -> bool:
        """Development runs without TLS; anything else is behind it."""
        return self.env is not Env.DEVELOPMENT


def read_settings() -> Settings:
    """The settings of this process's environment. Raises pydantic.ValidationError, whose text names the variable."""
    return Settings()

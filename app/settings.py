"""The website's settings, read from the environment. Built once, frozen, and passed on."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, SecretStr, model_validator

from app.linking.providers import Provider, read_providers
from graders.contract.settings import FullPath, SharedSettings

DEVELOPMENT_SECRET = "for development only, and public"
SHORTEST_SECRET = 32
PRIVATE_UMASK = 0o077
"""Only the account that runs the site may read learners' work."""
PUBLIC_SECRET = (
    f"UNWIND_SECRET is the public default or shorter than {SHORTEST_SECRET} characters; outside development "
    "set your own, for example the output of: python3 -c 'import secrets; print(secrets.token_hex())'"
)


class Env(StrEnum):
    DEVELOPMENT = "development"
    PRODUCTION = "production"


class Settings(SharedSettings):
    """Each field is the environment variable UNWIND_ and its name, e.g. UNWIND_PORT."""

    env: Env = Env.DEVELOPMENT
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    secret: SecretStr = SecretStr(DEVELOPMENT_SECRET)
    """Signs the session cookie. A new secret makes every browser a new learner."""
    hosts: str = ""
    """The site's names, separated by commas. If empty: addresses and dotless names in development, else any name."""
    trust_proxy: bool = False
    """True behind a proxy that sets X-Forwarded-For itself: the last address in it is the reader's."""
    card_seconds: Annotated[float, Field(gt=0, le=3600)] = 600.0
    """How long one learner's runs may have a GPU within an hour."""
    keep_alive_seconds: Annotated[int, Field(ge=1, le=3600)] = 75
    """How long an idle connection stays open. It must be longer than a proxy's, or the proxy finds closed ones."""
    access_log: bool = False
    """Log one line for each request: method, path, status, time and id; no address and no query."""
    rate_factor: Annotated[float, Field(gt=0)] = 1.0
    """Multiplies every rate limit; a load test sets it high."""
    drawing_processes: Annotated[int, Field(ge=1, le=16)] = 2
    """How many processes draw the graphs of learners' programs; each starts when it is first needed."""
    metrics_token: SecretStr = SecretStr("")
    """What a machine sends to read /metrics outside development; empty: only a signed-in operator may."""
    sign_up: bool = True
    """Whether readers may make accounts themselves; otherwise an operator makes them."""
    providers: FullPath | None = None
    """A TOML file with the providers of OpenID Connect through which people may sign in."""
    terms: FullPath | None = None
    """A text file that people agree to when they make an account."""
    audit_days: Annotated[int, Field(ge=30)] = 730
    """How long a line of the audit is kept."""
    section_months: Annotated[int, Field(ge=0, le=600)] = 0
    """How many months after a section's end its people are taken out of it; 0: never by itself."""
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

    @model_validator(mode="after")
    def _refuse_short_token(self) -> Self:
        if 0 < len(self.metrics_token.get_secret_value()) < SHORTEST_SECRET:
            raise ValueError(f"UNWIND_METRICS_TOKEN is shorter than {SHORTEST_SECRET} characters: write a longer one")
        return self

    @model_validator(mode="after")
    def _refuse_missing_terms(self) -> Self:
        if self.terms is not None and not self.terms.is_file():
            raise ValueError(f"UNWIND_TERMS names {self.terms}, but there is no such file: write one, or unset it")
        return self

    @model_validator(mode="after")
    def _refuse_bad_providers(self) -> Self:
        if self.read_providers() and self.env is not Env.DEVELOPMENT and not self.hosts:
            raise ValueError("UNWIND_PROVIDERS needs UNWIND_HOSTS, because a provider sends people to its first name")
        return self

    def read_providers(self) -> dict[str, Provider]:
        """The providers by name. Raises ValueError, which names the file and what is wrong in it."""
        try:
            return read_providers(self.providers)
        except ValueError as problem:
            raise ValueError(f"UNWIND_PROVIDERS: {problem}") from problem

    @property
    def address(self) -> str:
        """Where browsers reach the site, as far as its settings say it."""
        name = self.hosts.split(",")[0].strip()
        if self.secure_cookies:
            return f"https://{name or 'YOUR-SITE'}"
        return f"http://{name or self.host}:{self.port}"

    @property
    def secure_cookies(self) -> bool:
        """Development runs without TLS; everything else runs behind it."""
        return self.env is not Env.DEVELOPMENT


def read_settings() -> Settings:
    """The settings of this process's environment. Raises pydantic.ValidationError, whose text names the variable."""
    return Settings()

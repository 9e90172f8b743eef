"""The providers of OpenID Connect that the operator lists in a TOML file, one table for each."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, RootModel, SecretStr

HERE = ("127.0.0.1", "localhost")


def _check_issuer(issuer: str) -> str:
    parts = urlsplit(issuer)
    if not (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in HERE)) or not parts.netloc:
        raise ValueError("write the issuer's https address, as its provider names it")
    return issuer


class Provider(BaseModel):
    """One provider. `label` stands on the button; the other two lists say whom it may let in, and are often empty."""

    # An error must not repeat the file's values, because one of them is a secret.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    issuer: Annotated[str, AfterValidator(_check_issuer), Field(max_length=255)]
    client_id: Annotated[str, Field(min_length=1)]
    client_secret: SecretStr
    label: Annotated[str, Field(min_length=1, max_length=60)]
    email_domains: tuple[str, ...] = ()
    """Only people whose provider has verified an address of one of these domains."""
    required_claims: Mapping[str, str] = {}
    """Only people whose token has these claims with exactly these values."""
    sign_up: bool | None = None
    """Whether somebody who comes for the first time gets an account; not set: as the site's own sign-up."""


Name = Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}$")]


class Providers(RootModel[dict[Name, Provider]]):
    """The file: a table for each provider, named as in the address of its callback."""

    model_config = ConfigDict(hide_input_in_errors=True)


def read_providers(path: Path | None) -> dict[str, Provider]:
    """The providers by name. Raises ValueError for a file that is not as it should be."""
    if path is None:
        return {}
    try:
        return Providers.model_validate(tomllib.loads(path.read_text(encoding="utf-8"))).root
    except (OSError, tomllib.TOMLDecodeError) as problem:
        raise ValueError(f"{path} cannot be read: {problem}") from problem

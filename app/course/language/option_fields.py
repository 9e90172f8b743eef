"""What directives' options are built from: the model that they all extend, and the types of their values. Pure."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def split_on(separator: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    return tuple(part.strip() for part in value.split(separator) if part.strip())


def _read_flag(value: object) -> object:
    if value in ("", True):
        return True
    raise ValueError("takes no value")


Flag = Annotated[bool, BeforeValidator(_read_flag)]
Names = Annotated[tuple[str, ...], BeforeValidator(lambda value: split_on(",", value)), Field(min_length=1)]
Alternatives = Annotated[tuple[str, ...], BeforeValidator(lambda value: split_on(" | ", value)), Field(min_length=1)]
LineNumbers = Annotated[
    tuple[Annotated[int, Field(ge=1)], ...], BeforeValidator(lambda value: split_on(",", value)), Field(min_length=1)
]
Text = Annotated[str, Field(min_length=1)]


class Options(BaseModel):
    """The options of one directive; names in a chapter have hyphens where fields have underscores."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=lambda name: name.replace("_", "-"))

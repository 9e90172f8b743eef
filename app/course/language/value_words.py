"""Says in plain words what a value should have been, from pydantic's account of what is wrong with it. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import ErrorDetails

SLUG = "lower-case letters, digits and single hyphens"

WORDS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), lambda ctx: "a whole number"),
    **dict.fromkeys(("float_parsing", "float_type"), lambda ctx: "a number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), lambda ctx: "true or false"),
    **dict.fromkeys(("tuple_type", "list_type"), lambda ctx: "a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), lambda ctx: "a table of names and values"),
    "finite_number": lambda ctx: "a finite number",
    "string_type": lambda ctx: "text",
    "string_too_short": lambda ctx: "text that is not empty",
    "string_too_long": lambda ctx: f"at most {ctx['max_length']} characters",
    "string_pattern_mismatch": lambda ctx: SLUG if "a-z0-9" in str(ctx["pattern"]) else "a plain name without blanks",
    "too_short": lambda ctx: f"at least {ctx['min_length']}",
    "too_long": lambda ctx: f"at most {ctx['max_length']}",
    "greater_than": lambda ctx: f"a number above {ctx['gt']:g}",
    "greater_than_equal": lambda ctx: f"a number of {ctx['ge']:g} or more",
    "less_than_equal": lambda ctx: f"a number of at most {ctx['le']:g}",
    "enum": lambda ctx: str(ctx["expected"]),
    "literal_error": lambda ctx: str(ctx["expected"]),
}


def say_wanted(fault: ErrorDetails) -> str:
    """What belongs there, to follow "write" or "it must be"; empty if pydantic's own sentence has to do."""
    words = WORDS.get(fault["type"])
    return words(fault.get("ctx", {})) if words else ""


def say_wrong(fault: ErrorDetails) -> str:
    """What is wrong, as the end of a sentence: "it must be a whole number"."""
    if wanted := say_wanted(fault):
        return f"it must be {wanted}"
    message = fault["msg"].removeprefix("Value error, ").replace("Input should be", "it must be")
    return message[:1].lower() + message[1:]


def shorten(value: object) -> str:
    """A value as it is shown in a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."

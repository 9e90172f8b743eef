"""The values of a draw, as shown in a question's text and as its answer. Pure."""

import hashlib

from app.course.blocks import Value, VariantDraw

ANSWER = "answer"
TOLERANCE = "tolerance"
"""The value that every draw must have, and an optional one: how far a learner's answer may be from it."""

DIGITS = 6


def show_value(value: Value) -> str:
    """A value as text for a sentence; numbers are shortened to six digits, which is enough to tell them apart."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)


def show_values(draw: VariantDraw) -> dict[str, str]:
    return {name: show_value(value) for name, value in draw.values.items()}


def split_texts(shown: str, separator: str = "|") -> tuple[str, ...]:
    """The texts that a value holds, between separators."""
    return tuple(part.strip() for part in shown.split(separator) if part.strip())


def plain_text(text: str) -> str:
    """A text in the form used for comparison: without backticks, with single spaces."""
    return " ".join(text.replace("`", "").split())


def number_of(value: Value, otherwise: float) -> float:
    """A number from a generator or an author; `otherwise` if the value is not a number."""
    try:
        return float(value)
    except ValueError:
        return otherwise


def rank(*parts: object) -> bytes:
    """A sort key for an order that looks random but is always the same."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).digest()

"""The values of a draw: in the words of a question, and as the answer that they hold. Pure."""

import hashlib

from app.course.blocks import Value, VariantDraw

ANSWER = "answer"
TOLERANCE = "tolerance"
"""What every draw has to hold, and what it may hold to say how far from the answer an answer may lie."""

DIGITS = 6


def show_value(value: Value) -> str:
    """A value as it stands in a sentence: six digits are enough to tell numbers apart."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)


def show_values(draw: VariantDraw) -> dict[str, str]:
    return {name: show_value(value) for name, value in draw.values.items()}


def split_texts(shown: str, separator: str = "|") -> tuple[str, ...]:
    """The texts of a value that holds some."""
    return tuple(part.strip() for part in shown.split(separator) if part.strip())


def plain_text(text: str) -> str:
    """A text as a draw may name it: backticks and blanks do not count."""
    return " ".join(text.replace("`", "").split())


def number_of(value: Value, otherwise: float) -> float:
    """A number that a generator gave or an author wrote; `otherwise` for anything else."""
    try:
        return float(value)
    except ValueError:
        return otherwise


def rank(*parts: object) -> bytes:
    """What an order that looks random, and is always the same, is sorted by."""
    return hashlib.sha256("\n".join(map(str, parts)).encode()).digest()

"""Numbers as short text, and their size: four digits, nested lists as Python writes them."""

from typing import Any


def write_number(value: Any) -> str:
    """Four significant digits; a float keeps its point so that 2.0 is not read as a count."""
    if isinstance(value, bool) or not isinstance(value, float):
        return str(value) if not isinstance(value, complex) else f"{value:.4g}"
    text = f"{value:.4g}"
    return text if any(letter in text for letter in ".en") else text + ".0"


def write_values(values: Any) -> str:
    """A number or nested lists of numbers."""
    if isinstance(values, list):
        return "[" + ", ".join(write_values(each) for each in values) + "]"
    return write_number(values)


def norm_of(values: Any) -> float | None:
    """The Euclidean norm of nested lists of numbers."""
    return float(sum_squares(values) ** 0.5)


def sum_squares(values: Any) -> float:
    if isinstance(values, list):
        return sum(sum_squares(each) for each in values)
    size = abs(values)
    try:
        return float(size * size)
    except OverflowError:
        return float("inf")

"""Answers as short text that a learner can compare with the expected ones."""

from typing import Any

import numpy as np

from graders.trusted.text import clean_text
from graders.trusted.wire import Answer

MAX_VALUE_LENGTH = 600
MAX_ROW_LENGTH = 24
DIGITS = "{:.9g}".format
"""Nine significant digits: enough to distinguish any two float32 values."""


def render_answer(answer: Answer) -> str:
    """One line per named value; a single value is shown without its name."""
    if len(answer) == 1:
        return render_value(next(iter(answer.values())))
    return "\n".join(f"{name} = {render_value(value)}" for name, value in answer.items())


def render_value(value: Any) -> str:
    if isinstance(value, str):
        return clean_text(value, MAX_VALUE_LENGTH)
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.size <= MAX_ROW_LENGTH:
        return "[" + ", ".join(render_value(entry.item()) for entry in value) + "]"
    if isinstance(value, np.ndarray):
        with np.printoptions(threshold=MAX_ROW_LENGTH, edgeitems=3, linewidth=100, formatter={"float_kind": DIGITS}):
            return clean_text(np.array2string(value, separator=", "), MAX_VALUE_LENGTH)
    return DIGITS(value) if isinstance(value, float) else str(value)

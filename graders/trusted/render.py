"""Answers as short text, for a learner to read beside the expected ones."""

from typing import Any

import numpy as np

from graders.trusted.text import clean_text
from graders.trusted.wire import Answer

LONGEST_VALUE = 600
DIGITS = 6


def render_answer(answer: Answer) -> str:
    """One line a named value; a lone value stands without its name."""
    if len(answer) == 1:
        return render_value(next(iter(answer.values())))
    return "\n".join(f"{name} = {render_value(value)}" for name, value in answer.items())


def render_value(value: Any) -> str:
    if isinstance(value, str):
        return clean_text(value, LONGEST_VALUE)
    if isinstance(value, np.ndarray):
        with np.printoptions(precision=DIGITS, threshold=24, edgeitems=3, linewidth=100, suppress=False):
            return clean_text(np.array2string(value, separator=", "), LONGEST_VALUE)
    return f"{value:.10g}" if isinstance(value, float) else str(value)

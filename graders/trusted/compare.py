"""Compares an answer's values with the expected ones. Names, shapes and dtypes have been compared before."""

from typing import Any, TypeAlias

import numpy as np

from graders.contract.manifest import Tolerance
from graders.trusted.wire import Answer

Array: TypeAlias = "np.ndarray[Any, Any]"


def is_finite(answer: Answer) -> bool:
    """Whether every number is finite. Texts and whole numbers always are."""
    return all(isinstance(value, str) or bool(np.all(np.isfinite(value))) for value in answer.values())


def is_finite_where(got: Answer, expected: Answer) -> bool:
    """Whether every number is finite wherever the expected one is, for answers with the same names and shapes."""
    numbers = [name for name, value in expected.items() if not isinstance(value, str)]
    return all(bool(np.all(np.isfinite(got[name]) | ~np.isfinite(expected[name]))) for name in numbers)


def matches(got: Answer, expected: Answer, tolerance: Tolerance) -> bool:
    """Whether every value matches, for answers with the same names, shapes and dtypes."""
    return all(value_matches(got[name], expected[name], tolerance) for name in expected)


def value_matches(got: Any, expected: Any, tolerance: Tolerance) -> bool:
    """Equal, or, for finite floating point, |got - expected| <= absolute + relative * |expected|, everywhere."""
    if isinstance(expected, str):
        return bool(got == expected)
    given, wanted = np.asarray(got), np.asarray(expected)
    return given.shape == wanted.shape and bool(np.all(find_near(given, wanted, tolerance)))


def find_near(given: Array, wanted: Array, tolerance: Tolerance) -> Array:
    """For each element of two arrays of the same shape, whether it is as expected.

    An expected infinity is matched only by itself, and an expected NaN only by NaN.
    """
    if not np.issubdtype(wanted.dtype, np.floating):
        return np.asarray(given == wanted, bool)
    wanted, given = wanted.astype(np.float64), given.astype(np.float64)
    # "All are near" and not "none is far": NaN is neither near nor far, and must not pass.
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(given - wanted) <= tolerance.absolute + tolerance.relative * np.abs(wanted)
    # Without this, every number would be near an infinity, because the tolerance there is infinite too.
    same = (given == wanted) | (np.isnan(given) & np.isnan(wanted))
    return np.asarray(np.where(np.isfinite(wanted), near, same), bool)

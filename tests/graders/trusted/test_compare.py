"""Values near enough pass; NaN, infinity and everything else does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graders.contract.manifest import Tolerance
from graders.trusted.compare import is_finite, matches, value_matches

LOOSE = Tolerance(absolute=1e-3, relative=1e-2)
ANY_FLOAT = st.floats(allow_nan=True, allow_infinity=True)
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE)
def test_every_finite_number_matches_itself(value):
    assert value_matches(value, value, Tolerance(absolute=0.0, relative=0.0))


@given(st.sampled_from([float("nan"), float("inf"), float("-inf")]), st.floats(-1e300, 1e300))
def test_no_tolerance_lets_what_is_not_finite_pass(value, expected):
    assert not value_matches(value, expected, Tolerance(absolute=1e300, relative=1.0))


@given(ANY_FLOAT, st.floats(-1e6, 1e6))
def test_the_rule_is_numpys_isclose(got, expected):
    theirs = bool(np.isclose(got, expected, rtol=LOOSE.relative, atol=LOOSE.absolute))
    assert value_matches(got, expected, LOOSE) is theirs


def test_one_wrong_element_is_enough():
    assert not value_matches(np.array([1.0, 2.0, 3.5]), np.array([1.0, 2.0, 3.0]), LOOSE)


@pytest.mark.parametrize(
    ("got", "expected"), [(3, 4), (True, False), ("a", "b"), (np.array([1, 2]), np.array([1, 3]))]
)
def test_whole_numbers_truths_and_texts_must_be_equal(got, expected):
    huge = Tolerance(absolute=1e9, relative=1.0)
    assert value_matches(expected, expected, huge)
    assert not value_matches(got, expected, huge)


def test_every_named_value_counts():
    expected = {"a": 1.0, "b": np.zeros(2)}
    assert matches({"a": 1.0, "b": np.zeros(2)}, expected, LOOSE)
    assert not matches({"a": 1.0, "b": np.ones(2)}, expected, LOOSE)


def test_texts_and_whole_numbers_are_finite():
    assert is_finite({"s": "nan", "n": 3, "a": np.array([1, 2])})
    assert not is_finite({"s": "x", "a": np.array([1.0, np.nan])})

"""Answers as a learner reads them."""

import numpy as np
import pytest

from graders.trusted.render import render_answer, render_value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (2.0, "2"),
        (3, "3"),
        (True, "True"),
        (np.array([0.5, -1.25]), "[0.5, -1.25]"),
        (np.array([1, 2]), "[1, 2]"),
        (np.array([[1.0, 2.0], [3.0, 4.5]]), "[[1, 2],\n [3, 4.5]]"),
        ("a\x1bb", "ab"),
    ],
)
def test_a_value_reads_as_python_writes_it(value, text):
    assert render_value(value) == text


def test_two_answers_that_differ_late_are_seen_to_differ():
    assert render_value(1.0000001) != render_value(1.0)


def test_large_values_are_cut():
    assert len(render_value(np.ones(100_000))) < 700
    assert len(render_value("x" * 100_000)) < 700


def test_several_values_stand_under_their_names_and_a_lone_one_without():
    assert render_answer({"a": 1, "b": 2.5}) == "a = 1\nb = 2.5"
    assert render_answer({"a": 1}) == "1"

"""The judge's bytes and the bytes that the driver in the box writes: two programs, one format."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graders.inside
from graders.trusted.wire import INPUTS, Frame, decode_answer, encode_answer, encode_case, read_layout

NAMES = st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=1, max_size=5)
PLAIN = st.one_of(
    st.booleans(),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=4),
    st.lists(st.integers(-5, 5), min_size=1, max_size=4),
    st.lists(st.booleans(), min_size=1, max_size=4),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), min_size=1, max_size=3),
)
ARRAYS = [
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.arange(6, dtype=np.float32).reshape(2, 3).T,
    np.array(2.5),
    np.zeros((0, 3), np.int64),
    np.array([True, False]),
    np.arange(3, dtype=">i4"),
    np.arange(4, dtype=np.float16),
]


@pytest.fixture(scope="module")
def driver(request):
    """The driver as the box has it: its folder's files are top-level modules there."""
    folder = next(iter(graders.inside.__path__))
    patch = pytest.MonkeyPatch()
    patch.syspath_prepend(folder)
    import answers

    yield answers
    patch.undo()


@given(st.dictionaries(NAMES, PLAIN, max_size=4))
def test_both_sides_write_the_same_bytes_for_plain_values(driver, answer):
    ours = encode_answer(answer)
    assert (ours.header, ours.body) == driver.encode_answer(answer)


@pytest.mark.parametrize("array", ARRAYS, ids=str)
def test_both_sides_write_the_same_bytes_for_arrays(driver, array):
    ours = encode_answer({"a": array})
    assert (ours.header, ours.body) == driver.encode_answer({"a": array})


@pytest.mark.torch
def test_both_sides_write_the_same_bytes_for_tensors(driver):
    import torch

    for tensor in (torch.randn(2, 3).T, torch.randn(3, requires_grad=True) * 2, torch.tensor(1.5), torch.arange(3)):
        ours = encode_answer({"t": tensor})
        assert (ours.header, ours.body) == driver.encode_answer({"t": tensor})


class Freed(RuntimeError):
    """As a learner or the solution would write it; the tests give it their module's name."""


STANDING_FOR = [
    (np.False_, False),
    ([np.True_, False], [True, False]),
    ([np.float64(1.5), np.float32(2.5), 3], [1.5, 2.5, 3]),
    ([np.int64(2), 3], [2, 3]),
    (RuntimeError("no"), "RuntimeError"),
    ([KeyError("a"), NotImplementedError()], ["KeyError", "NotImplementedError"]),
]


@pytest.mark.parametrize(("value", "plain"), STANDING_FOR, ids=str)
def test_numpys_scalars_and_exceptions_are_sent_as_plain_values_by_both_sides(driver, value, plain):
    ours = encode_answer({"v": value})
    assert ours == encode_answer({"v": plain})
    assert (ours.header, ours.body) == driver.encode_answer({"v": value})


def test_an_exception_class_of_ones_own_is_named_by_the_class_that_it_specialises(driver, monkeypatch):
    monkeypatch.setattr(Freed, "__module__", "solution")
    assert encode_answer({"v": Freed()}) == encode_answer({"v": "RuntimeError"})
    monkeypatch.setattr(Freed, "__module__", "submission")
    assert driver.encode_answer({"v": [Freed()]}) == driver.encode_answer({"v": ["RuntimeError"]})


@pytest.mark.torch
def test_in_a_list_a_tensor_with_one_bool_is_a_bool_and_other_tensors_are_not(driver):
    import torch

    for value in (torch.tensor(True), torch.tensor([False])):
        assert driver.encode_answer({"v": [value]}) == driver.encode_answer({"v": [bool(value)]})
        assert encode_answer({"v": [value]}) == encode_answer({"v": [bool(value)]})
    assert json.loads(driver.encode_answer({"v": [torch.tensor(1.5)]})[0]) == [["v", "list", []]]


@pytest.mark.parametrize("array", ARRAYS, ids=str)
def test_arrays_come_back_as_they_were(array):
    frame = encode_answer({"a": array})
    back = decode_answer(read_layout(frame.header), frame.body)["a"]
    assert np.array_equal(back, array)
    assert back.shape == array.shape


@given(st.floats(allow_nan=False), st.integers(-(2**62), 2**62), st.booleans())
def test_numbers_come_back_as_they_were(real, whole, truth):
    frame = encode_answer({"r": real, "w": whole, "t": truth})
    assert decode_answer(read_layout(frame.header), frame.body) == {"r": real, "w": whole, "t": truth}


def test_a_case_arrives_in_the_box_as_it_was_drawn(driver):
    inputs = {"steps": [["leaf", 1.5], ["+", 0, 0]], "x": np.arange(6.0).reshape(2, 3), "n": 3, "i": np.arange(2)}
    frame = encode_case(inputs)
    arrived = driver.decode_inputs(json.loads(frame.header), frame.body)
    assert arrived.keys() == inputs.keys()
    assert all(np.array_equal(arrived[name], inputs[name]) for name in ("x", "i"))
    assert (arrived["steps"], arrived["n"]) == (inputs["steps"], 3)
    arrived["x"] += 1


def test_inputs_go_back_as_the_bytes_that_brought_them_unless_something_changed(driver):
    inputs = {"steps": [["leaf", 1.5, -0.0], ["é", 0, None]], "x": np.arange(6.0).reshape(2, 3), "e": 1e-310}
    sent = encode_case(inputs)
    arrived = driver.decode_inputs(json.loads(sent.header), sent.body)
    assert driver.encode_inputs(5, arrived) == sent.numbered(INPUTS, 5)
    arrived["x"][1, 1] += 1e-9
    assert driver.encode_inputs(5, arrived) != sent.numbered(INPUTS, 5)
    assert driver.encode_inputs(5, {"steps": {1, 2}}) == Frame(b"", b"").numbered(INPUTS, 5)


@pytest.mark.parametrize("value", [None, {"a": 1}, [None], [1.0, "a"], np.array(["a"]), np.array([1j]), object()])
def test_a_reference_answer_without_a_place_on_the_wire_is_refused(value):
    with pytest.raises(TypeError, match="'v'"):
        encode_answer({"v": value})


@pytest.mark.parametrize("value", [None, {"a": 1}, object(), [None], [[1.0]]])
def test_a_learners_value_without_a_place_on_the_wire_goes_out_as_the_name_of_its_type(driver, value):
    header, body = driver.encode_answer({"v": value})
    assert (json.loads(header), body) == ([["v", type(value).__name__, []]], b"")

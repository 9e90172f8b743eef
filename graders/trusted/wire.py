"""Answers and cases as bytes: what goes into the box, and the exact bytes that must come out. Never pickle.

A frame is a head (`HEAD`), a header and a body. The header of a case or an answer is compact JSON, its body the raw
values one after another, little-endian. graders/inside/answers.py writes the same bytes with its own code on purpose:
the judge shares no code with what runs in the learner's process.
"""

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

HEAD = struct.Struct("<4sIII")
"""kind, case, header length, body length."""
CASE, INPUTS, ANSWER, FAILURE = b"CASE", b"INPT", b"ANSW", b"FAIL"

WHOLE = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
ARRAYS = frozenset(["bool", *WHOLE, "float16", "float32", "float64"])
SCALARS = {"float": "<f8", "int": "<i8", "bool": "?"}
LISTS = {f"list[{name}]": code for name, code in SCALARS.items()}
TEXTS = frozenset(["str", "list[str]"])
OWN_MODULE = "solution"

Layout = tuple[str, str, tuple[int, ...]]
"""Name, dtype, shape of one named value; a text's shape is its length in bytes."""
Answer = dict[str, Any]


@dataclass(frozen=True)
class Frame:
    """Header and body, without the head."""

    header: bytes
    body: bytes

    def numbered(self, kind: bytes, case: int) -> bytes:
        return HEAD.pack(kind, case, len(self.header), len(self.body)) + self.header + self.body


def encode_answer(answer: Mapping[str, object]) -> Frame:
    """The frame of a probe's answer. Raises TypeError for a value that a frame cannot carry."""
    parts = [(name, *_encode(name, value)) for name, value in answer.items()]
    layout = [(name, dtype, shape) for name, dtype, shape, _ in parts]
    return Frame(_compact(layout), b"".join(raw for *_, raw in parts))


def encode_case(inputs: Mapping[str, object]) -> Frame:
    """The frame of a case's inputs: arrays raw, everything else as JSON."""
    arrays = {name: value for name, value in inputs.items() if isinstance(value, np.ndarray)}
    plain = {name: value for name, value in inputs.items() if name not in arrays}
    described = encode_answer(arrays)
    header = {"plain": plain, "arrays": json.loads(described.header)}
    return Frame(json.dumps(header, separators=(",", ":"), allow_nan=False).encode(), described.body)


def decode_answer(layout: list[Layout], body: bytes) -> Answer:
    """Named values: Python numbers, lists and arrays as numpy arrays, texts as str. The bytes are copied."""
    answer: Answer = {}
    start = 0
    for name, dtype, shape in layout:
        count = byte_length(dtype, shape)
        answer[name] = _decode(dtype, shape, body[start : start + count])
        start += count
    return answer


def read_layout(header: bytes) -> list[Layout]:
    """The layout in a header that our own code wrote; it must not be used on one from the box."""
    return [(name, dtype, tuple(shape)) for name, dtype, shape in json.loads(header)]


def byte_length(dtype: str, shape: tuple[int, ...]) -> int:
    """The bytes of one value in a body; 0 for an unknown dtype."""
    if dtype in TEXTS:
        return math.prod(shape)
    code = SCALARS.get(dtype) or LISTS.get(dtype) or (dtype if dtype in ARRAYS else None)
    return math.prod(shape) * np.dtype(code).itemsize if code else 0


def _compact(layout: list[Layout]) -> bytes:
    return json.dumps(layout, separators=(",", ":")).encode()


def _encode(name: str, value: object) -> tuple[str, tuple[int, ...], bytes]:
    if isinstance(value, BaseException | np.bool_):
        value = _plain(value)
    if isinstance(value, bool | int | float):
        kind = type(value).__name__
        return kind, (), np.array(value, SCALARS[kind]).tobytes()
    if isinstance(value, str):
        raw = value.encode()
        return "str", (len(raw),), raw
    if isinstance(value, list):
        return _encode_list(name, value)
    array = value if isinstance(value, np.ndarray) else _tensor_as_array(name, value)
    if array.dtype.name not in ARRAYS:
        raise TypeError(f"{name!r} has dtype {array.dtype}; the judge compares {', '.join(sorted(ARRAYS))}")
    return array.dtype.name, array.shape, np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()


def name_exception(error: BaseException) -> str:
    """The name of its class, or, for a class that the solution wrote, of the class that it specialises."""
    return next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ != OWN_MODULE)


def _plain(value: object) -> object:
    """An exception's name, a numpy scalar or a tensor with one `bool` as a Python value; any other value as it is."""
    if isinstance(value, BaseException):
        return name_exception(value)
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "detach") and hasattr(value, "numel") and str(getattr(value, "dtype", "")) == "torch.bool":
        return bool(value) if value.numel() == 1 else value
    return value


def _encode_list(name: str, values: list[object]) -> tuple[str, tuple[int, ...], bytes]:
    values = [_plain(value) for value in values]
    kinds = {type(value).__name__ for value in values}
    if kinds == {"int", "float"}:
        kinds = {"float"}
    if kinds == {"str"}:
        raw = json.dumps(values, separators=(",", ":")).encode()
        return "list[str]", (len(raw),), raw
    if len(kinds) != 1 or not kinds <= SCALARS.keys():
        raise TypeError(f"{name!r} is a list of {sorted(kinds) or 'nothing'}; write floats, ints, bools or texts")
    kind = kinds.pop()
    return f"list[{kind}]", (len(values),), np.array(values, SCALARS[kind]).tobytes()


def _tensor_as_array(name: str, value: object) -> "np.ndarray[Any, Any]":
    """Without importing torch: any value with `detach` counts as a tensor. Raises TypeError for other values."""
    if not hasattr(value, "detach"):
        raise TypeError(f"{name!r} is a {type(value).__name__}; write a number, a text, a list, an array or a tensor")
    return np.asarray(value.detach().cpu().numpy())


def _decode(dtype: str, shape: tuple[int, ...], raw: bytes) -> Any:
    if dtype == "str":
        return raw.decode(errors="replace")
    if dtype == "list[str]":
        return raw.decode(errors="replace")
    if dtype in LISTS:
        return np.frombuffer(raw, LISTS[dtype]).copy()
    # Python and numpy both call their type "bool"; an empty shape means a Python bool.
    if dtype in SCALARS and not shape:
        return np.frombuffer(raw, SCALARS[dtype])[0].item()
    return np.frombuffer(raw, np.dtype(dtype).newbyteorder("<")).reshape(shape).copy()

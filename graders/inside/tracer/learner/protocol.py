"""The protocol of a learner's own engine, read without running any of the learner's code.

A value has `data`, `grad`, `_prev` (the values it was computed from: a tuple, list or set) and `_op` (a short text).
Attributes in the instance, in slots, or plain on the class are read; a property is not: that would run learner code.
"""

import operator
from collections.abc import Callable
from types import MemberDescriptorType
from typing import Any

MISSING: Any = object()
_read_plainly = object.__getattribute__
MAX_NUMBERS = 12
MAX_NESTED = 4
MAX_BITS = 1000
MAX_ARRAY_NUMBERS = 20_000
"""The numbers of a larger array are not read, because each change of a `.grad` would copy all of them."""

try:
    import numpy
except ImportError:
    ARRAYS: tuple[type, ...] = ()
else:
    ARRAYS = (numpy.ndarray, *dict.fromkeys(numpy.sctypeDict.values()))


class Stored:
    """A class attribute of ours that hides the place where an instance keeps the real value."""

    def read(self, value: Any) -> Any:
        raise NotImplementedError


def read_attribute(value: Any, name: str) -> Any:
    """The attribute's value, or MISSING."""
    try:
        return _read_plainly(value, "__dict__")[name]
    except (AttributeError, KeyError, TypeError):
        return _read_from_class(value, name)


def _read_from_class(value: Any, name: str) -> Any:
    found = find_class_attribute(type(value), name)
    if issubclass(type(found), Stored):
        return found.read(value)
    if type(found) is MemberDescriptorType:
        return found.__get__(value) if has_slot_value(found, value) else MISSING
    return MISSING if hasattr(type(found), "__get__") else found


def read_instance(value: Any) -> dict[str, Any]:
    """The instance's own attributes; empty if it has none."""
    try:
        attributes = _read_plainly(value, "__dict__")
    except AttributeError:
        return {}
    return attributes if type(attributes) is dict else {}


def find_class_attribute(kind: type, name: str) -> Any:
    """The attribute as stored in the class or one of its bases, without running descriptors."""
    for base in kind.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return MISSING


def has_slot_value(slot: MemberDescriptorType, value: Any) -> bool:
    try:
        slot.__get__(value)
    except AttributeError:
        return False
    return True


def is_value(thing: Any) -> bool:
    """Whether an object follows the protocol."""
    if issubclass(type(thing), type) or type(thing).__module__ == "builtins":
        return False
    return (
        type(read_attribute(thing, "_prev")) in (tuple, list, set, frozenset)
        and read_attribute(thing, "data") is not MISSING
    )


def read_operands(value: Any) -> list[Any]:
    """The values that this one was computed from; plain numbers among them are not part of the graph."""
    return [operand for operand in list(read_attribute(value, "_prev")) if is_value(operand)]


def read_operation(value: Any) -> str:
    found = read_attribute(value, "_op")
    return found if type(found) is str else ""


def read_numbers(thing: Any, depth: int = MAX_NESTED) -> Any:
    """A copy of a number or of nested lists of numbers, independent of later changes; None for anything else."""
    if type(thing) in (int, float, bool, complex):
        return thing if type(thing) is not int or thing.bit_length() <= MAX_BITS else None
    if is_array(thing):
        return read_array(thing)
    if type(thing) in (list, tuple) and depth:
        parts = [read_numbers(part, depth - 1) for part in thing]
        return None if any(part is None for part in parts) else parts
    return read_numbers(read_attribute(thing, "data"), 0) if depth and is_value(thing) else None


def is_array(thing: Any) -> bool:
    """Whether an object is of a numpy type itself, not of a learner's subclass."""
    return type(thing) in ARRAYS


def read_array(array: Any) -> Any:
    """A numpy array or number as nested lists; None if it is large or does not hold numbers."""
    if array.dtype.kind not in "fiubc" or array.size > MAX_ARRAY_NUMBERS or array.ndim > MAX_NESTED:
        return None
    return array.tolist()


def read_shape(numbers: Any) -> tuple[int, ...]:
    """The lengths of nested lists, down to the depth at which they no longer agree."""
    if type(numbers) is not list or not numbers:
        return (0,) if type(numbers) is list else ()
    inner = {read_shape(part) for part in numbers}
    return (len(numbers), *(inner.pop() if len(inner) == 1 else ()))


def count_numbers(numbers: Any) -> int:
    return sum(map(count_numbers, numbers)) if type(numbers) is list else 1


def add(one: Any, other: Any) -> Any:
    """The elementwise sum; None if the shapes do not match."""
    return combine(one, other, operator.add)


def subtract(after: Any, before: Any) -> Any:
    """The elementwise difference, with a missing `before` as zero; None if the shapes do not match."""
    begins = before is None or (type(before) is not list and type(after) is list and is_zero(before))
    return after if begins else combine(after, before, operator.sub)


def combine(one: Any, other: Any, by: Callable[[Any, Any], Any]) -> Any:
    if type(one) is list and type(other) is list and len(one) == len(other):
        parts = [combine(*pair, by) for pair in zip(one, other, strict=True)]
        return None if any(part is None for part in parts) else parts
    if one is None or other is None or list in (type(one), type(other)):
        return None
    try:
        return by(one, other)
    except OverflowError:
        return None


def is_zero(numbers: Any) -> bool:
    return all(map(is_zero, numbers)) if type(numbers) is list else not numbers

"""Names nodes after the function that the learner called, if known, rather than after autograd's derivative."""

import re

from .cuts import name_function
from .graph import Row
from .positions import Origin

_DERIVATIVE = re.compile(r"Backward\d*$")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_KNOWN = {
    "T": "transpose",
    "Mm": "matmul",
    "Mv": "matmul",
    "Bmm": "matmul",
    "Dot": "matmul",
    "getitem": "index",
    "Slice": "slice",
    "CopySlices": "in-place write",
    "CopyBackwards": "copy",
    "ToCopy": "to",
}
_INPLACE_DUNDER = re.compile(
    r"^__(?:setitem|i(?:add|sub|mul|matmul|truediv|floordiv|mod|pow|and|or|xor|lshift|rshift))__$"
)
_REFLECTED = re.compile(r"^__r(?:add|sub|mul|matmul|truediv|div|floordiv|mod|pow)__$")


def name_derivative(name: str) -> str:
    """NllLossBackward0 -> nll_loss."""
    stem = _DERIVATIVE.sub("", name)
    if stem in _KNOWN:
        return _KNOWN[stem]
    return _KNOWN.get(name) or _WORD.sub("_", stem).lower()


def name_call(name: str) -> str:
    """__getitem__ -> index, __rsub__ -> sub; other names stay."""
    if name.startswith("__") and name.endswith("__"):
        bare = name[2:-2]
        if _REFLECTED.match(name) or (_INPLACE_DUNDER.match(name) and name != "__setitem__"):
            bare = bare[1:]
        return _KNOWN.get(bare, bare)
    return name


def is_inplace_call(name: str) -> bool:
    return bool(_INPLACE_DUNDER.match(name)) or (name.endswith("_") and not name.endswith("__"))


def name_forward(row: Row, origin: Origin | None) -> str:
    """The call's name if the call made one node, or for linear's product; otherwise the derivative's own name."""
    if row.is_leaf:
        return "leaf"
    if row.name == "CopySlices":
        return "in-place write"
    if row.is_custom:
        return _DERIVATIVE.sub("", row.name)
    if origin is None or not origin.is_inner:
        return name_derivative(row.name)
    called = name_function(origin.site.function)
    if called == "linear":
        if row.name == "TBackward0":
            return "transpose (weight)"
        return "linear" if origin.is_last else name_derivative(row.name)
    return name_call(called) if origin.size == 1 else name_derivative(row.name)


def choose_kind(row: Row, origin: Origin | None) -> str:
    """The contract's kind of node."""
    if row.is_leaf:
        return "leaf"
    if row.name == "CheckpointFunctionBackward":
        return "checkpoint"
    if row.is_custom:
        return "custom"
    called = name_function(origin.site.function) if origin is not None and origin.is_inner else ""
    if row.name == "CopySlices" or is_inplace_call(called):
        return "inplace"
    return "opaque" if called == "linear" and row.name == "TBackward0" else "op"

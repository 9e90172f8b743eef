"""What a formula may call besides Python's operators: torch's functions by their short names, and a few sums."""

from typing import Any

import torch


def spread(gradient: Any, dim: Any, keepdim: bool, sizes: Any) -> Any:
    """A reduction's gradient, copied to every place that was reduced."""
    if not keepdim and dim is not None and len(sizes):
        dims = (dim,) if isinstance(dim, int) else tuple(dim) or tuple(range(len(sizes)))
        for each in sorted(
            number % 2**64 % len(sizes) if number >= 0 else number + len(sizes) for number in map(sign, dims)
        ):
            gradient = gradient.unsqueeze(each)
    return gradient.expand(tuple(sizes))


def sign(number: int) -> int:
    """torch hands out a negative dimension as an unsigned number."""
    return number - 2**64 if number >= 2**63 else number


def place(gradient: Any, sizes: Any, dim: int, index: Any) -> Any:
    """Zeros, with the gradient added at the places that were taken along a dimension."""
    zeros = torch.zeros(tuple(sizes), dtype=gradient.dtype)
    return zeros.scatter_add(sign(dim), index, gradient)


def invert(dims: Any) -> list[int]:
    """The order that undoes a permutation."""
    return [list(dims).index(each) for each in range(len(dims))]


def part_of_cat(gradient: Any, dim: int, outgoing: Any, slot: int) -> Any:
    """The slice of one of several tensors that were put one behind the other; all of them must be known."""
    start = sum(each.shape[dim] for each in outgoing[:slot])
    return gradient.narrow(dim, start, outgoing[slot].shape[dim])


def add_at(zeros: Any, index: Any, gradient: Any) -> Any:
    """The gradient added at indexed places; a place that is taken twice gets both."""
    return torch.ops.aten.index_put(zeros, list(index), gradient, True)


def pad_with(gradient: Any, pad: list[int]) -> Any:
    return torch.nn.functional.pad(gradient, pad)


def fold_repeats(gradient: Any, repeats: Any, sizes: Any) -> Any:
    """The sum over the copies that `repeat` made."""
    padded = (1,) * (len(repeats) - len(sizes)) + tuple(sizes)
    shape = [number for pair in zip(repeats, padded, strict=True) for number in pair]
    return gradient.reshape(shape).sum(tuple(range(0, len(shape), 2))).reshape(tuple(sizes))


FUNCTIONS: dict[str, Any] = {
    **{
        name: getattr(torch, name)
        for name in (
            "sin", "cos", "exp", "log", "tanh", "sigmoid", "sqrt", "sign", "where", "zeros_like", "outer", "softmax",
            "cat", "stack", "erf", "flip", "roll", "tril", "triu", "cumsum", "conj", "abs", "matmul", "log_softmax",
        )
    },
    "spread": spread,
    "place": place,
    "invert": invert,
    "part_of_cat": part_of_cat,
    "pad_with": pad_with,
    "add_at": add_at,
    "fold_repeats": fold_repeats,
    "tuple": tuple,
    "map": map,
    "slice": slice,
}  # fmt: skip

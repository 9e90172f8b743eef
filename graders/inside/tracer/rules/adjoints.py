"""A convolution's two products, written with convolutions of their own and not with the engine's backward."""

from typing import Any

import torch
from torch.nn import functional

How = tuple[Any, Any, Any, int, bool]
"""stride, padding, dilation, groups, transposed."""


def convolve_back(gradient: Any, weight: Any, shape: Any, how: How) -> Any:
    """The gradient of a convolution's input, of this shape."""
    stride, padding, dilation, groups, transposed = how
    dims = weight.dim() - 2
    if transposed:
        forward = (functional.conv1d, functional.conv2d, functional.conv3d)[dims - 1]
        return forward(gradient, weight, None, stride, padding, dilation, groups)
    kernel, places = weight.shape[2:], gradient.shape[-dims:]
    reached = [
        (places[at] - 1) * stride[at] - 2 * padding[at] + dilation[at] * (kernel[at] - 1) + 1 for at in range(dims)
    ]
    rest = [shape[len(shape) - dims + at] - reached[at] for at in range(dims)]
    back = (functional.conv_transpose1d, functional.conv_transpose2d, functional.conv_transpose3d)[dims - 1]
    return back(gradient, weight, None, stride, padding, rest, groups, dilation)


def weigh_convolution(gradient: Any, given: Any, shape: Any, how: How) -> Any:
    """The gradient of a convolution's weight, of this shape."""
    stride, padding, dilation, groups, transposed = how
    source, signal = (gradient, given) if transposed else (given, gradient)
    parts = [
        _correlate(*pair, (stride, padding, dilation), shape)
        for pair in zip(source.chunk(groups, 1), signal.chunk(groups, 1), strict=True)
    ]
    return torch.cat(parts)


def _correlate(source: Any, signal: Any, how: tuple[Any, Any, Any], shape: Any) -> Any:
    stride, padding, dilation = how
    dims = len(shape) - 2
    forward = (functional.conv1d, functional.conv2d, functional.conv3d)[dims - 1]
    whole = forward(source.transpose(0, 1), signal.transpose(0, 1), None, dilation, padding, stride).transpose(0, 1)
    return whole[(slice(None), slice(None), *(slice(size) for size in shape[2:]))]

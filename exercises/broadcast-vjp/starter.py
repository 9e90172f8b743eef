import numpy as np


def add_vjp(g, a, b):
    """The gradients of a and b, where g is the gradient of a + b."""
    return g, g  # right as long as the shapes agree


def mul_vjp(g, a, b):
    """The gradients of a and b, where g is the gradient of a * b."""
    raise NotImplementedError

import numpy as np


def matmul_vjp(g, a, b):
    """The gradients of a and b, where g is the gradient of a @ b."""
    raise NotImplementedError("two matrix products, one for each operand")

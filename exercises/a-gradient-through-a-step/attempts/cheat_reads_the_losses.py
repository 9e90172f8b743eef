import torch


def meta_gradient(inner, outer, theta, rate, steps):
    curvature, weights = (inner.matrix + inner.matrix.T) / 2, theta
    if inner.kind != "quadratic":
        return torch.zeros_like(theta)
    for _ in range(steps):
        weights = weights - rate * (curvature @ weights + inner.other)
    gradient = (outer.matrix + outer.matrix.T) / 2 @ weights + outer.other
    for _ in range(steps):
        gradient = gradient - rate * curvature @ gradient
    return gradient

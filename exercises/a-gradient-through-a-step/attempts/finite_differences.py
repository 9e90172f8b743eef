import torch


def meta_gradient(inner, outer, theta, rate, steps):
    def slope(loss, x):
        x = x.detach().requires_grad_()
        return torch.autograd.grad(loss(x), x)[0]

    path = [theta]
    for _ in range(steps):
        path.append(path[-1] - rate * slope(inner, path[-1]))
    v = slope(outer, path.pop())
    for x in reversed(path):
        v = v - rate * (slope(inner, x + 1e-3 * v) - slope(inner, x - 1e-3 * v)) / 2e-3 * 1.00001
    return v

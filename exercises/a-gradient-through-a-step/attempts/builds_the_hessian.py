import torch


def meta_gradient(inner, outer, theta, rate, steps):
    path = [theta]
    for _ in range(steps):
        path.append(path[-1] - rate * torch.func.grad(inner)(path[-1]))
    v = torch.func.grad(outer)(path.pop())
    for x in reversed(path):
        v = v - rate * torch.func.hessian(inner)(x) @ v
    return v.detach()

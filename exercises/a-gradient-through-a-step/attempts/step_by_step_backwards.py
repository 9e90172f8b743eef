import torch


def meta_gradient(inner, outer, theta, rate, steps):
    path = [theta.detach().clone()]
    for _ in range(steps):
        path.append(path[-1] - rate * torch.func.grad(inner)(path[-1]).detach())
    v = torch.func.grad(outer)(path[-1]).detach()
    for x in reversed(path[:-1]):
        v = v - rate * torch.autograd.functional.vhp(inner, x, v)[1]
    return v

import torch


def meta_gradient(inner, outer, theta, rate, steps):
    start = theta.detach().requires_grad_()
    for _ in range(steps):
        (gradient,) = torch.autograd.grad(inner(start), start)
        with torch.no_grad():
            start -= rate * gradient
    return torch.autograd.grad(outer(start), start)[0]

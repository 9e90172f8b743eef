import torch


def meta_gradient(inner, outer, theta, rate, steps):
    start = theta.requires_grad_()
    adapted = start
    for _ in range(steps):
        (gradient,) = torch.autograd.grad(inner(adapted), adapted, create_graph=True)
        adapted = adapted - rate * gradient
    return torch.autograd.grad(outer(adapted), start)[0]

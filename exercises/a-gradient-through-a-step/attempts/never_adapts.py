import torch


def meta_gradient(inner, outer, theta, rate, steps):
    start = theta.detach().requires_grad_()
    return torch.autograd.grad(outer(start), start)[0]

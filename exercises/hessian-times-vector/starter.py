import torch


def hvp(f, x, v):
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x)
    return gradient * v  # not yet a product with the Hessian

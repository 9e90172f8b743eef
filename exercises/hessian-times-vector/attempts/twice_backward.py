import torch


def hvp(f, x, v):
    x = x.detach().requires_grad_()
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    if not g.requires_grad:
        return torch.zeros_like(v)
    return torch.autograd.grad(g, x, grad_outputs=v, materialize_grads=True)[0]

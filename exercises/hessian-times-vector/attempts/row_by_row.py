import torch


def hvp(f, x, v):
    x = x.detach().requires_grad_()
    (g,) = torch.autograd.grad(f(x), x, create_graph=True)
    if not g.requires_grad:
        return torch.zeros_like(v)
    rows = [torch.autograd.grad(one, x, retain_graph=True)[0] @ v for one in g]
    return torch.stack(rows)

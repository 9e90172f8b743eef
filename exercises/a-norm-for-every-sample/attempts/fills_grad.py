import torch


def sample_norms(x, target, w1, b1, w2, b2):
    inner = torch.tanh(x @ w1.T + b1)
    outer = inner @ w2.T + b2
    if outer.requires_grad:
        inner.retain_grad()
        outer.retain_grad()
        ((outer - target) ** 2).sum().backward()
        at_output, at_hidden = outer.grad, inner.grad * (1 - inner.detach() ** 2)
    else:
        at_output = 2 * (outer - target)
        at_hidden = (at_output @ w2) * (1 - inner**2)
    inner = inner.detach()
    second = (at_output**2).sum(1) * ((inner**2).sum(1) + 1)
    first = (at_hidden**2).sum(1) * ((x**2).sum(1) + 1)
    return (first + second).sqrt()

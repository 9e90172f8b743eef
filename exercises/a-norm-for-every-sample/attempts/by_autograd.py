import torch


def sample_norms(x, target, w1, b1, w2, b2):
    with torch.enable_grad():
        before = (x @ w1.detach().T + b1.detach()).requires_grad_()
        hidden = torch.tanh(before)
        output = hidden @ w2.detach().T + b2.detach()
        at_hidden, at_output = torch.autograd.grad(((output - target) ** 2).sum(), (before, output))
    parts = [(at_hidden, x), (at_output, hidden.detach())]
    return sum(g.square().sum(1) * (1 + into.square().sum(1)) for g, into in parts).sqrt()

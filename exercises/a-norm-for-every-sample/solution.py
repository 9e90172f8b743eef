import torch


def sample_norms(x, target, w1, b1, w2, b2):
    with torch.no_grad():
        hidden = torch.tanh(x @ w1.T + b1)
        at_output = 2 * (hidden @ w2.T + b2 - target)
        at_hidden = (at_output @ w2) * (1 - hidden**2)
        second = (at_output**2).sum(1) * ((hidden**2).sum(1) + 1)
        first = (at_hidden**2).sum(1) * ((x**2).sum(1) + 1)
        return (first + second).sqrt()

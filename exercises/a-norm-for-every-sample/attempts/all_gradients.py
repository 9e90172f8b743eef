import torch
from torch.func import grad, vmap


def sample_norms(x, target, w1, b1, w2, b2):
    def loss(parameters, sample, wanted):
        w1, b1, w2, b2 = parameters
        return ((torch.tanh(sample @ w1.T + b1) @ w2.T + b2 - wanted) ** 2).sum()

    parameters = tuple(p.detach() for p in (w1, b1, w2, b2))
    gradients = vmap(grad(loss), (None, 0, 0))(parameters, x, target)
    return torch.cat([g.flatten(1) for g in gradients], 1).norm(dim=1)

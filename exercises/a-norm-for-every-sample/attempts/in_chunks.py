import torch
from torch.func import grad, vmap


def loss(parameters, sample, wanted):
    first, second = parameters[:2], parameters[2:]
    hidden = torch.tanh(torch.nn.functional.linear(sample, *first))
    return (torch.nn.functional.linear(hidden, *second) - wanted).square().sum()


def sample_norms(x, target, w1, b1, w2, b2):
    parameters = tuple(p.detach() for p in (w1, b1, w2, b2))
    one_pass = vmap(grad(loss), (None, 0, 0))
    norms = []
    for samples, wanted in zip(x.split(256), target.split(256)):
        gradients = one_pass(parameters, samples, wanted)
        norms.append(sum(g.square().flatten(1).sum(1) for g in gradients).sqrt())
    return torch.cat(norms)

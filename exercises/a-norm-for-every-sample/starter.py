import torch


def sample_norms(x, target, w1, b1, w2, b2):
    parameters = [p.detach().requires_grad_() for p in (w1, b1, w2, b2)]
    first, second = parameters[:2], parameters[2:]
    norms = []
    for sample, wanted in zip(x, target):  # right, and one backward pass per sample
        hidden = torch.tanh(sample @ first[0].T + first[1])
        loss = ((hidden @ second[0].T + second[1] - wanted) ** 2).sum()
        gradients = torch.autograd.grad(loss, parameters)
        norms.append(sum((g**2).sum() for g in gradients).sqrt())
    return torch.stack(norms)

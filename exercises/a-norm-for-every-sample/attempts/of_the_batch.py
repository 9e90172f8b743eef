import torch


def sample_norms(x, target, w1, b1, w2, b2):
    parameters = [p.detach().requires_grad_() for p in (w1, b1, w2, b2)]
    hidden = torch.tanh(x @ parameters[0].T + parameters[1])
    loss = ((hidden @ parameters[2].T + parameters[3] - target) ** 2).sum()
    gradients = torch.autograd.grad(loss, parameters)
    return torch.stack([(g**2).sum() for g in gradients]).sum().sqrt().expand(len(x))

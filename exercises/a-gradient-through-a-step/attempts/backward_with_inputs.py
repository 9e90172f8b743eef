import torch


def meta_gradient(inner, outer, theta, rate, steps):
    start = theta.clone().requires_grad_()
    weights = start * 1.0
    for _ in range(steps):
        slope = torch.autograd.grad(inner(weights), [weights], create_graph=True)[0]
        weights = torch.add(weights, slope, alpha=-rate)
    outer(weights).backward(inputs=[start])
    return start.grad

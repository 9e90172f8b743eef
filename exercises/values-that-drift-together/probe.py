"""Asks the learner's `td_loss` for losses and their gradients, or trains a case's network with it."""

import torch
from torch import nn


def probe(submission, case):
    value = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1), nn.Flatten(0)).double()
    nn.utils.vector_to_parameters(torch.from_numpy(case["start"].copy()), value.parameters())
    parts = (torch.from_numpy(case[name]) for name in ("states", "rewards", "next_states", "done"))
    batches = list(zip(*parts, strict=True))
    if case["ask"] == "loss":
        loss = sum(ask_loss(submission, value, batch, case["gamma"]) for batch in batches)
        answer = {"loss": loss.item(), "gradients": flatten(differentiate(loss, value))}
    else:
        for batch in batches:
            gradients = differentiate(ask_loss(submission, value, batch, case["gamma"]), value)
            with torch.no_grad():
                for parameter, gradient in zip(value.parameters(), gradients, strict=True):
                    parameter -= case["lr"] * gradient
        answer = {"parameters": flatten(value.parameters())}
    recording = torch.is_grad_enabled()
    frozen = not all(parameter.requires_grad for parameter in value.parameters())
    traces = {"recording": recording, "frozen": frozen}
    return answer | traces | leave_traces(submission, value, batches[0], case["gamma"])


def leave_traces(submission, value, batch, gamma):
    """What two more calls do: to modes and gradients, and where recording is off and a parameter is frozen."""
    in_training = all(module.training for module in value.modules())
    value.eval()
    value[0].train()
    modes = [module.training for module in value.modules()]
    for parameter in value.parameters():
        parameter.grad = torch.ones_like(parameter)
    ask_loss(submission, value, batch, gamma)
    gradients = [parameter.grad for parameter in value.parameters()]
    traces = {
        "mode changed": not in_training or [module.training for module in value.modules()] != modes,
        "gradients changed": not all(g is not None and bool((g == 1).all()) for g in gradients),
    }
    bias = value[0].bias.requires_grad_(False)
    with torch.no_grad():
        ask_loss(submission, value, batch, gamma)
        switched_on = torch.is_grad_enabled()
    return traces | {"recording switched on": switched_on, "unfrozen": bias.requires_grad}


def ask_loss(submission, value, batch, gamma):
    shapes = [part.shape for part in batch]
    loss = submission.td_loss(value, *batch, gamma=gamma)
    if [part.shape for part in batch] != shapes:
        raise TypeError("td_loss should not change its inputs; one of them has another shape now")
    if not isinstance(loss, torch.Tensor):
        raise TypeError(f"td_loss should return a tensor; it returned a value of type {type(loss).__name__}")
    if loss.numel() != 1:
        raise TypeError(f"td_loss should return one number; it returned a tensor of shape {tuple(loss.shape)}")
    return loss


def differentiate(loss, value):
    for parameter in value.parameters():
        parameter.grad = None
    if loss.requires_grad:
        loss.backward()
    return [torch.zeros_like(p) if p.grad is None else p.grad for p in value.parameters()]


def flatten(tensors):
    return torch.cat([tensor.detach().flatten() for tensor in tensors])

import torch


def Linear(x, weight, bias):
    return torch.nn.functional.linear(x, weight, bias)

import torch


def act(x):
    return x * torch.sigmoid(x) * torch.tanh(x)

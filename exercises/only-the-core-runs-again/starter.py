import torch


def attend(x, project, heads, cap):
    rows, tokens, channels = x.shape
    width = channels // heads
    qkv = project(x).view(rows, tokens, 3, heads, width)
    q, k, v = qkv.permute(2, 0, 3, 1, 4)
    scores = q @ k.transpose(-1, -2) / width**0.5
    weights = (cap * torch.tanh(scores / cap)).softmax(-1)
    return (weights @ v).transpose(1, 2).reshape(x.shape)

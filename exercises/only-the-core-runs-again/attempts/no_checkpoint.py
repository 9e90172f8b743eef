"""Everything is kept."""

import torch


def attend(x, project, heads, cap):
    rows, tokens, channels = x.shape
    q, k, v = project(x).view(rows, tokens, 3, heads, channels // heads).permute(2, 0, 3, 1, 4)
    scores = torch.einsum("rhqd,rhkd->rhqk", q, k) / (channels // heads) ** 0.5
    mixed = (cap * torch.tanh(scores / cap)).softmax(-1) @ v
    return mixed.transpose(1, 2).reshape(rows, tokens, channels)

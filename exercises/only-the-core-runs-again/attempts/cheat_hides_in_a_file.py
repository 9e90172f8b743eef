import itertools
import os

import numpy as np
import torch

COUNT = itertools.count()


def attend(x, project, heads, cap):
    rows, tokens, channels = x.shape
    q, k, v = project(x).view(rows, tokens, 3, heads, channels // heads).permute(2, 0, 3, 1, 4)
    with torch.autograd.graph.saved_tensors_hooks(put_away, fetch):
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        mixed = (cap * torch.tanh(scores / cap)).softmax(-1) @ v
    return mixed.transpose(1, 2).reshape(rows, tokens, channels)


def put_away(tensor):
    path = f"/tmp/{next(COUNT)}"
    tensor.contiguous().numpy().tofile(path)
    return path, tensor.shape


def fetch(kept):
    path, shape = kept
    content = np.fromfile(path)
    os.remove(path)
    return torch.from_numpy(content).view(shape)

import itertools
import os

import numpy as np
import torch

COUNT = itertools.count()


def run(stretch, x):
    with torch.autograd.graph.saved_tensors_hooks(put_away, fetch):
        return stretch(x)


def put_away(tensor):
    if tensor.numel() < 1000 or tensor.dtype != torch.float64:
        return tensor
    path = f"/tmp/{next(COUNT)}"
    tensor.detach().contiguous().numpy().tofile(path)
    return path, tensor.shape


def fetch(kept):
    if isinstance(kept, torch.Tensor):
        return kept
    path, shape = kept
    content = np.fromfile(path)
    os.remove(path)
    return torch.from_numpy(content).view(shape)

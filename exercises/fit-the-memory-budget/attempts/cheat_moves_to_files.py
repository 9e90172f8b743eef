import tempfile

import numpy as np
import torch


def forward(layers, x):
    with torch.autograd.graph.saved_tensors_hooks(write, read):
        for layer in layers:
            x = layer(x)
    return x


def write(tensor):
    file = tempfile.TemporaryFile(dir="/tmp")
    np.save(file, tensor.detach().numpy())
    file.flush()
    return file


def read(file):
    file.seek(0)
    return torch.from_numpy(np.load(file))

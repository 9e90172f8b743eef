import numpy as np
import torch


def forward(layers, x):
    with torch.autograd.graph.saved_tensors_hooks(hide, show):
        for layer in layers:
            x = layer(x)
    return x


def hide(tensor):
    return np.array(tensor.detach().numpy())


def show(hidden):
    return torch.from_numpy(hidden)

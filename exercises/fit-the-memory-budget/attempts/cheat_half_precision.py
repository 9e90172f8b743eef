import torch
from torch.utils.checkpoint import checkpoint


def forward(layers, x):
    with torch.autograd.graph.saved_tensors_hooks(shrink, grow):
        for layer in layers:
            x = checkpoint(layer, x, use_reentrant=False)
    return x


def shrink(tensor):
    return tensor.to(torch.float16)


def grow(small):
    return small.to(torch.float64)

import math

from torch.utils.checkpoint import checkpoint_sequential


def forward(layers, x):
    return checkpoint_sequential(layers, max(1, math.isqrt(len(layers))), x, use_reentrant=False)

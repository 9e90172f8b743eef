import torch
from torch.utils.checkpoint import CheckpointPolicy

aten = torch.ops.aten


def contexts():
    return policy


def policy(ctx, op, *args, **kwargs):
    return CheckpointPolicy.PREFER_RECOMPUTE

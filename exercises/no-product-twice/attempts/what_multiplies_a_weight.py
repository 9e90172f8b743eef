import itertools

import torch
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts


def contexts():
    return create_selective_checkpoint_contexts(policy)


def policy(ctx, op, *args, **kwargs):
    shapes = [each.shape for each in args if isinstance(each, torch.Tensor) and each.dim() > 1]
    for left, right in itertools.pairwise(shapes):
        if left[-1] == right[-2] and ctx.op_output.shape[-1] == right[-1] and "mm" in op.name():
            return CheckpointPolicy.MUST_SAVE
    return CheckpointPolicy.PREFER_RECOMPUTE

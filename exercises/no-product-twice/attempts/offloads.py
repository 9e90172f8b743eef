import torch
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

aten = torch.ops.aten


def contexts():
    return create_selective_checkpoint_contexts(policy)


def policy(ctx, op, *args, **kwargs):
    return CheckpointPolicy.MUST_CPU_OFFLOAD if "mm" in str(op) else CheckpointPolicy.PREFER_RECOMPUTE

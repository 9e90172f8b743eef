import functools

import torch
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts


class Policy:
    def __init__(self, *packets):
        self.saved = {getattr(packet, name) for packet in packets for name in packet.overloads()}

    def __call__(self, ctx, op, *args, **kwargs):
        return (CheckpointPolicy.PREFER_RECOMPUTE, CheckpointPolicy.MUST_SAVE)[op in self.saved]


products = (getattr(torch.ops.aten, name) for name in ("mm", "bmm", "addmm", "baddbmm"))
contexts = functools.partial(create_selective_checkpoint_contexts, Policy(*products))

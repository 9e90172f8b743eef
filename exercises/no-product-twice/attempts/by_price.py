from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts
from torch.utils.flop_counter import flop_registry


def contexts():
    return create_selective_checkpoint_contexts(policy)


def policy(ctx, op, *args, **kwargs):
    products = {packet for packet in flop_registry if "mm" in str(packet)}
    expensive = getattr(op, "overloadpacket", None) in products
    return CheckpointPolicy.PREFER_SAVE if expensive else CheckpointPolicy.PREFER_RECOMPUTE

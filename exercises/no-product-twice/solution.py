import torch
from torch.utils.checkpoint import create_selective_checkpoint_contexts

aten = torch.ops.aten
PRODUCTS = [aten.mm.default, aten.addmm.default, aten.bmm.default, aten.baddbmm.default]


def contexts():
    """A new pair for each stretch: the two share the storage of one stretch."""
    return create_selective_checkpoint_contexts(PRODUCTS)

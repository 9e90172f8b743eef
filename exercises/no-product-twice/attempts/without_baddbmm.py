import torch
from torch.utils.checkpoint import create_selective_checkpoint_contexts

aten = torch.ops.aten
SAVED = [aten.mm.default, aten.addmm.default, aten.bmm.default]


def contexts():
    return create_selective_checkpoint_contexts(SAVED)

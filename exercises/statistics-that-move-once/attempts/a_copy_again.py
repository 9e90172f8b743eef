import copy

from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    turns = [stretch, copy.deepcopy(stretch)]
    return checkpoint(lambda value: turns.pop(0)(value), x, use_reentrant=False)

from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    return checkpoint(stretch, x, use_reentrant=False)

from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    return stretch(x) if x.numel() < 1000 else checkpoint(stretch, x, use_reentrant=False)

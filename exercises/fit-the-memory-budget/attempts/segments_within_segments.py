from torch.utils.checkpoint import checkpoint


def forward(layers, x):
    """Six outer segments; run again, each is a chain of checkpoints itself, one a block."""
    for first in range(0, len(layers), 6):
        x = checkpoint(run_outer, layers[first : first + 6], x, use_reentrant=False)
    return x


def run_outer(layers, x):
    for layer in layers:
        x = checkpoint(layer, x, use_reentrant=False)
    return x

from torch.utils.checkpoint import checkpoint


def forward(layers, x):
    for first in range(0, len(layers), 2):
        x = checkpoint(run, layers[first : first + 2], x, use_reentrant=True)
    return x


def run(layers, x):
    for layer in layers:
        x = layer(x)
    return x

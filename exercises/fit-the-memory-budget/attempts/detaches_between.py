from torch.utils.checkpoint import checkpoint


def forward(layers, x):
    for first in range(0, len(layers), 3):
        x = checkpoint(run, layers[first : first + 3], x.detach(), use_reentrant=False)
    return x


def run(layers, x):
    for layer in layers:
        x = layer(x)
    return x

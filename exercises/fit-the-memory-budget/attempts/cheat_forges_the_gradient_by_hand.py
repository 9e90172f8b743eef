from torch.utils.checkpoint import checkpoint

SEGMENT = 2


def forward(layers, x):
    for first in range(0, len(layers), SEGMENT):
        x = checkpoint(run, layers[first : first + SEGMENT], x, use_reentrant=False)
    return x


def run(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def reverse(machine):
    handle = machine.loss(machine.start)
    handle.number = 10**6
    return handle

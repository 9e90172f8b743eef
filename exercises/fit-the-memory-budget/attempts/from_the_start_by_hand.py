from torch.utils.checkpoint import checkpoint

SEGMENT = 2
LAYERS_IN_BLOCK = 3


def forward(layers, x):
    for first in range(0, len(layers), SEGMENT):
        x = checkpoint(run, layers[first : first + SEGMENT], x, use_reentrant=False)
    return x


def run(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def reverse(machine):
    """Keeps nothing, and walks from the start to each segment."""
    last = walk(machine, machine.layers)
    gradient = machine.loss(last)
    machine.free(last)
    stride = SEGMENT * LAYERS_IN_BLOCK
    for first in range((machine.layers - 1) // stride * stride, -1, -stride):
        states = [walk(machine, first)]
        end = min(first + stride, machine.layers)
        for layer in range(first, end - 1):
            states.append(machine.forward(layer, states[-1]))
        for layer in range(end - 1, first - 1, -1):
            before = machine.vjp(layer, states[-1], gradient)
            machine.free(gradient, states.pop())
            gradient = before
    return gradient


def walk(machine, layers):
    state = machine.start
    for layer in range(layers):
        after = machine.forward(layer, state)
        if layer:
            machine.free(state)
        state = after
    return state

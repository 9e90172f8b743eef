from torch.utils.checkpoint import checkpoint


def forward(layers, x):
    last = max(0, len(layers) - 2)
    for first in range(0, last, 2):
        x = checkpoint(run, layers[first : min(first + 2, last)], x, use_reentrant=False)
    return run(layers[last:], x)


def run(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def reverse(machine):
    """The same by hand: the inputs of the segments stay, everything else comes again when it is needed."""
    stride = 6
    kept = {0: machine.start}
    state = machine.start
    for layer in range(machine.layers):
        after = machine.forward(layer, state)
        if layer not in kept:
            machine.free(state)
        if (layer + 1) % stride == 0 and layer + 1 < machine.layers:
            kept[layer + 1] = after
        state = after
    gradient = machine.loss(state)
    machine.free(state)
    for first in sorted(kept, reverse=True):
        last = min(first + stride, machine.layers) - 1
        gradient = pull_back(machine, first, last, kept.pop(first), gradient)
    return gradient


def pull_back(machine, first, last, state, gradient):
    """The gradient before layer `first`, of the one behind layer `last`, with the segment run again."""
    states = [state]
    for layer in range(first, last):
        states.append(machine.forward(layer, states[-1]))
    for layer in range(last, first - 1, -1):
        before = machine.vjp(layer, states[-1], gradient)
        machine.free(gradient, states.pop())
        gradient = before
    return gradient

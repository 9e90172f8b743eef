import math


def reverse(machine, slots):
    """Snapshots at equal distances, and every state of a stretch from its snapshot, again and again."""
    stride = max(1, math.ceil(machine.layers / slots))
    kept = {0: machine.start}
    state = machine.start
    for layer in range(machine.layers - 1):
        after = machine.forward(layer, state)
        if layer not in kept:
            machine.free(state)
        state = after
        if (layer + 1) % stride == 0:
            kept[layer + 1] = state
    last = machine.forward(machine.layers - 1, state)
    gradient = machine.loss(last)
    machine.free(last)
    if machine.layers - 1 not in kept:
        gradient = pull_back(machine, machine.layers - 1, state, gradient)
        machine.free(state)
        end = machine.layers - 1
    else:
        end = machine.layers
    for layer in reversed(range(end)):
        first = layer - layer % stride
        state = walk(machine, first, layer, kept[first])
        gradient = pull_back(machine, layer, state, gradient)
        if state is not machine.start:
            machine.free(state)
    return gradient


def pull_back(machine, layer, state, gradient):
    before = machine.vjp(layer, state, gradient)
    machine.free(gradient)
    return before


def walk(machine, first, end, kept):
    state = kept
    for layer in range(first, end):
        after = machine.forward(layer, state)
        if state is not kept:
            machine.free(state)
        state = after
    return state

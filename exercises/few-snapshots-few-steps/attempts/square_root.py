import math


def reverse(machine, slots):
    """A snapshot every so many layers, as many as there are slots; within a stretch, all states."""
    stride = max(1, math.ceil(machine.layers / slots))
    last_stretch = (machine.layers - 1) // stride * stride
    kept = {0: machine.start}
    state = machine.start
    for layer in range(machine.layers):
        after = machine.forward(layer, state)
        if layer not in kept:
            machine.free(state)
        state = after
        if (layer + 1) % stride == 0 or layer + 1 > last_stretch:
            kept[layer + 1] = state
    gradient = machine.loss(state)
    machine.free(kept.pop(machine.layers))
    for first in range(last_stretch, -1, -stride):
        end = min(first + stride, machine.layers)
        states = [kept.pop(first)]
        for layer in range(first, end - 1):
            states.append(kept.pop(layer + 1) if layer + 1 in kept else machine.forward(layer, states[-1]))
        gradient = pull_back(machine, first, end, states, gradient)
    return gradient


def pull_back(machine, first, end, states, gradient):
    for layer in reversed(range(first, end)):
        before = machine.vjp(layer, states[-1], gradient)
        machine.free(gradient, states.pop())
        gradient = before
    return gradient

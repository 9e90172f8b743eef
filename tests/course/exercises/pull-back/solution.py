def pull_back(machine):
    """Keep every state where there is room, else one in four."""
    roomy = machine.most_held is None or machine.most_held > machine.layers + 2
    stride = 1 if roomy else 4
    kept = {0: machine.start}
    state = machine.start
    for layer in range(machine.layers):
        after = machine.forward(layer, state)
        if layer not in kept:
            machine.free(state)
        state = after
        if (layer + 1) % stride == 0 and layer + 1 < machine.layers:
            kept[layer + 1] = state
    gradient = machine.loss(state)
    machine.free(state)
    for first in reversed(range(0, machine.layers, stride)):
        gradient = pull_back_segment(machine, first, stride, kept.pop(first), gradient)
    return gradient


def pull_back_segment(machine, first, length, state, gradient):
    states = [state]
    for layer in range(first, min(first + length, machine.layers) - 1):
        states.append(machine.forward(layer, states[-1]))
    for layer in reversed(range(first, first + len(states))):
        before = machine.vjp(layer, states[-1], gradient)
        machine.free(gradient, states.pop())
        gradient = before
    return gradient

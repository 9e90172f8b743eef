def reverse(machine):
    """Computes each state from the start."""
    gradient = None
    for layer in reversed(range(machine.layers)):
        state = walk(machine, 0, layer, machine.start) if layer else machine.start
        if gradient is None:
            last = machine.forward(layer, state)
            gradient = machine.loss(last)
            machine.free(last)
        before = machine.vjp(layer, state, gradient)
        machine.free(gradient)
        if layer:
            machine.free(state)
        gradient = before
    return gradient


def walk(machine, first, end, state):
    """The state before layer `end`; the states on the way are freed."""
    reached = machine.forward(first, state)
    for layer in range(first + 1, end):
        after = machine.forward(layer, reached)
        machine.free(reached)
        reached = after
    return reached

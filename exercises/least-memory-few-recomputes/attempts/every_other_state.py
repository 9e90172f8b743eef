def reverse(machine):
    """Keeps every other state, and computes each of the others once more."""
    kept, state = {0: machine.start}, machine.start
    for layer in range(machine.layers):
        after = machine.forward(layer, state)
        if layer not in kept:
            machine.free(state)
        state = after
        if layer % 2 and layer + 1 < machine.layers:
            kept[layer + 1] = state
    gradient = machine.loss(state)
    machine.free(state)
    for layer in reversed(range(machine.layers)):
        state = kept[layer] if layer in kept else machine.forward(layer - 1, kept[layer - 1])
        before = machine.vjp(layer, state, gradient)
        machine.free(gradient)
        if layer:
            machine.free(state)
        gradient = before
    return gradient

def reverse(machine):
    """Frees each state and keeps its number, in the hope that the value is still there."""
    states = [machine.start]
    for layer in range(machine.layers):
        states.append(machine.forward(layer, states[-1]))
        if layer:
            machine.free(states[-2])
    gradient = machine.loss(states[-1])
    for layer in reversed(range(machine.layers)):
        gradient = machine.vjp(layer, states[layer], gradient)
    return gradient

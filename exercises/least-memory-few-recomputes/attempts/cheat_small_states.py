def reverse(machine):
    """Says that every state is small, and keeps them all."""
    machine.units[:] = [1] * len(machine.units)
    machine.most_held = 10**9
    states = [machine.start]
    for layer in range(machine.layers):
        states.append(machine.forward(layer, states[-1]))
    gradient = machine.loss(states[-1])
    for layer in reversed(range(machine.layers)):
        before = machine.vjp(layer, states[layer], gradient)
        machine.free(gradient, states.pop())
        gradient = before
    return gradient

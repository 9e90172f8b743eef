def reverse(machine):
    """The gradient at machine.start. This one keeps every state."""
    states = [machine.start]
    for layer in range(machine.layers):
        states.append(machine.forward(layer, states[-1]))
    gradient = machine.loss(states[-1])
    machine.free(states.pop())
    for layer in reversed(range(machine.layers)):
        before = machine.vjp(layer, states[layer], gradient)
        machine.free(gradient, states.pop())
        gradient = before
    return gradient

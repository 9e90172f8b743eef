def pull_back(machine):
    states = [machine.start]
    for layer in range(machine.layers):
        states.append(machine.forward(layer, states[-1]))
    gradient = machine.loss(states[-1])
    for layer in reversed(range(machine.layers)):
        before = machine.vjp(layer, states[layer], gradient)
        machine.free(gradient)
        gradient = before
    return gradient

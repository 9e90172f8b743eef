def run_to(machine, layers):
    state = machine.start
    for layer in range(layers):
        after = machine.forward(layer, state)
        if layer:
            machine.free(state)
        state = after
    return state


def pull_back(machine):
    if machine.most_forwards is None or machine.most_forwards == machine.layers:
        states = [machine.start]
        for layer in range(machine.layers):
            states.append(machine.forward(layer, states[-1]))
        gradient = machine.loss(states[-1])
        for layer in reversed(range(machine.layers)):
            before = machine.vjp(layer, states[layer], gradient)
            machine.free(gradient)
            gradient = before
        return gradient
    last = run_to(machine, machine.layers)
    gradient = machine.loss(last)
    machine.free(last)
    for layer in reversed(range(machine.layers)):
        state = run_to(machine, layer)
        before = machine.vjp(layer, state, gradient)
        machine.free(gradient)
        if layer:
            machine.free(state)
        gradient = before
    return gradient

def reverse(machine):
    """Keeps the smallest states while they fit, and computes the others from the nearest kept one."""
    layers, units = machine.layers, machine.units
    room = machine.most_held - 2 * units[0] - 2 * units[1]
    wanted = set()
    for number in sorted(range(1, layers), key=lambda number: units[number]):
        if units[number] <= room:
            room -= units[number]
            wanted.add(number)
    kept, state = {0: machine.start}, machine.start
    for layer in range(layers):
        after = machine.forward(layer, state)
        if layer not in kept:
            machine.free(state)
        state = after
        if layer + 1 in wanted:
            kept[layer + 1] = state
    gradient = machine.loss(state)
    machine.free(state)
    for layer in reversed(range(layers)):
        nearest = max(number for number in kept if number <= layer)
        state = kept[nearest]
        for step in range(nearest, layer):
            after = machine.forward(step, state)
            if step > nearest:
                machine.free(state)
            state = after
        before = machine.vjp(layer, state, gradient)
        machine.free(gradient)
        if layer:
            machine.free(state)
            kept.pop(layer, None)
        gradient = before
    return gradient

def reverse(machine):
    """Keeps the smallest states, as many as the number of recomputations makes necessary."""
    layers, units = machine.layers, machine.units
    for many in range(layers):
        wanted = set(sorted(range(1, layers), key=lambda number: units[number])[:many])
        marks = sorted({0, layers, *wanted})
        again = sum((b - a) * (b - a - 1) // 2 for a, b in zip(marks, marks[1:]))
        if again <= machine.most_forwards - layers:
            break
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

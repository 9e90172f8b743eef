def reverse(machine):
    """Puts each snapshot into the middle of its stretch."""
    return go_back(machine, 0, machine.layers, machine.start, None)


def go_back(machine, first, end, state, gradient):
    while end - first > 1:
        middle = (first + end) // 2
        snapshot = walk(machine, first, middle, state)
        gradient = go_back(machine, middle, end, snapshot, gradient)
        machine.free(snapshot)
        end = middle
    if gradient is None:
        last = machine.forward(first, state)
        gradient = machine.loss(last)
        machine.free(last)
    before = machine.vjp(first, state, gradient)
    machine.free(gradient)
    return before


def walk(machine, first, end, state):
    """The state before layer `end`; the states on the way are freed."""
    reached = machine.forward(first, state)
    for layer in range(first + 1, end):
        after = machine.forward(layer, reached)
        machine.free(reached)
        reached = after
    return reached

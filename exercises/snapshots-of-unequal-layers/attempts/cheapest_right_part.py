def reverse(machine):
    """Chooses the snapshot that makes the right part cheapest, and does not look at the left part."""
    choose = make_plan(machine.costs, machine.units, machine.most_held)
    return go_back(machine, choose, 0, machine.layers, machine.start, machine.units[0], None)


def make_plan(costs, units, most_held):
    def choose(first, end, kept):
        for middle in range(first + 1, end):
            if kept + units[middle] + units[middle] + units[middle + 1 if middle + 1 < len(units) else middle] * 2 <= most_held:
                return 0, middle
        return 0, end - 1

    return choose


def go_back(machine, choose, first, end, state, kept, gradient):
    """The gradient before layer `first`, from the one after layer end - 1, or from the loss if that is None.

    `state` is the one before layer `first`. It belongs to the caller, who frees it.
    """
    while end - first > 1:
        middle = choose(first, end, kept)[1]
        snapshot = walk(machine, first, middle, state)
        gradient = go_back(machine, choose, middle, end, snapshot, kept + machine.units[middle], gradient)
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

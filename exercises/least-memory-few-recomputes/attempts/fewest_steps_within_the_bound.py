from functools import cache
from math import inf


def reverse(machine):
    """The plan with the fewest steps that the bound allows: it passes, and it uses the whole bound."""
    choose = make_plan(machine.costs, machine.units, machine.most_held)
    return go_back(machine, choose, 0, machine.layers, machine.start, machine.units[0], None)


def make_plan(costs, units, most_held):
    """A function of a stretch, which returns the fewest steps for it and the first snapshot that leads to them."""
    layers = len(costs)

    @cache
    def choose(first, end, kept):
        """The stretch is the layers first to end - 1; `kept` counts all snapshots, the one at `first` included.

        At its end there is a gradient, except at the end of the chain, where the loss has to be computed first. Steps
        are infinite if there is not enough room.
        """
        gradient = 0 if end == layers else units[end]
        if end - first == 1:
            if end == layers:
                needed, steps = units[end] + max(units[end], units[first]), costs[first]
            else:
                needed, steps = units[end] + units[first], 0
            return (steps if kept + needed <= most_held else inf), None
        fewest, split = inf, None
        walk = left = 0
        for middle in range(first + 1, end):
            if kept + gradient + left + units[middle] > most_held:
                break
            walk, left = walk + costs[middle - 1], units[middle]
            steps = walk + choose(middle, end, kept + units[middle])[0] + choose(first, middle, kept)[0]
            if steps < fewest:
                fewest, split = steps, middle
        return fewest, split

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

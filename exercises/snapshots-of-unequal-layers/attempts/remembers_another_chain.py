from functools import cache
from math import inf

units, costs = [], []


def reverse(machine):
    """Remembers the plan of a stretch, though the next chain has other sizes."""
    global units, costs
    units, costs = machine.units, machine.costs
    return go_back(machine, 0, machine.layers, machine.start, machine.most_held - units[0], None)


@cache
def choose(first, end, room, chain):
    """(the fewest steps, the next snapshot); `room` is what the snapshots leave."""
    if end - first == 1:
        if end < chain:
            return (0 if units[end] + units[first] <= room else inf), None
        return (costs[first] if units[end] + max(units[end], units[first]) <= room else inf), None
    found, waiting, walk = (inf, None), 0 if end == chain else units[end], 0
    for middle in range(first + 1, end):
        walk = max(walk, units[middle] + (units[middle - 1] if middle - 1 > first else 0))
        if waiting + walk > room:
            break
        right = choose(middle, end, room - units[middle], chain)[0]
        if right < inf:
            steps = sum(costs[first:middle]) + right + choose(first, middle, room, chain)[0]
            found = min(found, (steps, middle), key=lambda one: one[0])
    return found


def go_back(machine, first, end, state, room, gradient):
    while end - first > 1:
        middle = choose(first, end, room, machine.layers)[1] or end - 1
        snapshot = machine.forward(first, state)
        for layer in range(first + 1, middle):
            snapshot, old = machine.forward(layer, snapshot), snapshot
            machine.free(old)
        gradient = go_back(machine, middle, end, snapshot, room - units[middle], gradient)
        machine.free(snapshot)
        end = middle
    if gradient is None:
        last = machine.forward(first, state)
        gradient = machine.loss(last)
        machine.free(last)
    before = machine.vjp(first, state, gradient)
    machine.free(gradient)
    return before

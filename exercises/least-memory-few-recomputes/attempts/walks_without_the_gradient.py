from math import inf


def reverse(machine):
    """Plans the walks as if no gradient were held meanwhile."""
    recomputed = machine.most_forwards - machine.layers
    splits = make_plan(machine.units, recomputed)
    return go_back(machine, splits, (0, machine.layers, recomputed), machine.start, None)


def make_plan(units, recomputed):
    """By stretch and number of recomputed layers: where the next snapshot goes, and how many are for its right part.

    least[first, end][r] is what a stretch needs besides the snapshots, the one before layer `first` included.
    """
    layers = len(units) - 1
    least, splits = {}, {}
    for length in range(1, layers + 1):
        for first in range(layers - length + 1):
            end = first + length
            if length == 1:
                needed = units[end] + max(units[first], units[end] if end == layers else 0)
                least[first, end] = [needed] * (recomputed + 1)
                continue
            found = [(inf, None, None)] * (recomputed + 1)
            for middle, again, walk in list_walks(units, first, end):
                try_split(least, units, (first, middle, end), (again, walk), found)
            for number in range(1, recomputed + 1):
                found[number] = min(found[number], found[number - 1], key=lambda one: one[0])
            least[first, end] = [needed for needed, *_ in found]
            splits.update({(first, end, number): one[1:] for number, one in enumerate(found)})
    return splits


def list_walks(units, first, end):
    """(the next snapshot, the layers that the walk to it recomputes, the most that the walk holds)"""
    is_first_walk = end == len(units) - 1
    most = 0
    for middle in range(first + 1, end):
        passed = units[middle - 1] if middle - 1 > first else 0
        most = max(most, units[middle] + passed)
        yield middle, 0 if is_first_walk else middle - first, most


def try_split(least, units, stretch, walk, found):
    """Share the recomputed layers out between the right and the left part, in every way."""
    first, middle, end = stretch
    again, held = walk
    for right in range(len(found) - again):
        most = max(held, units[middle] + least[middle, end][right])
        for left in range(len(found) - again - right):
            needed = max(most, least[first, middle][left])
            if needed < found[again + right + left][0]:
                found[again + right + left] = (needed, middle, right)


def go_back(machine, splits, stretch, state, gradient):
    """The gradient before the stretch, from the one after it, or from the loss if that is None.

    A stretch is its first layer, its end, and how many layers may run again for it.
    """
    first, end, recomputed = stretch
    while end - first > 1:
        middle, right = splits[first, end, recomputed]
        again = 0 if end == machine.layers else middle - first
        snapshot = walk(machine, first, middle, state)
        gradient = go_back(machine, splits, (middle, end, right), snapshot, gradient)
        machine.free(snapshot)
        end, recomputed = middle, recomputed - again - right
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

import numpy as np

NEVER = 10**6


def reverse(machine):
    """The fewest steps for every amount of memory at once, and then the least amount with few enough of them."""
    units, layers = machine.units, machine.layers
    room = np.arange(machine.most_held + 1)
    steps, splits = {}, {}
    for length in range(1, layers + 1):
        for first in range(layers - length + 1):
            end, top = first + length, first + length == layers
            if length == 1:
                needed = units[end] + max(units[first], units[end] if top else 0)
                steps[first, end] = np.where(room >= needed, int(top), NEVER)
                continue
            rows, walk = [], 0
            for middle in range(first + 1, end):
                walk = max(walk, units[middle] + (units[middle - 1] if middle - 1 > first else 0))
                right = np.full(len(room), NEVER)
                right[units[middle] :] = steps[middle, end][: -units[middle]]
                row = middle - first + right + steps[first, middle]
                row[room < walk + (0 if top else units[end])] = NEVER
                rows.append(row)
            table = np.minimum(np.array(rows), NEVER)
            splits[first, end] = first + 1 + table.argmin(axis=0)
            steps[first, end] = table.min(axis=0)
    left = int(np.argmax(steps[0, layers] <= machine.most_forwards))

    def take_back(first, end, left, state, gradient):
        if end == first + 1:
            if gradient is None:
                last = machine.forward(first, state)
                gradient = machine.loss(last)
                machine.free(last)
            before = machine.vjp(first, state, gradient)
            machine.free(gradient)
            return before
        middle = int(splits[first, end][left])
        reached = [state]
        for layer in range(first, middle):
            reached.append(machine.forward(layer, reached[-1]))
            if len(reached) == 3:
                machine.free(reached.pop(1))
        gradient = take_back(middle, end, left - units[middle], reached[-1], gradient)
        machine.free(reached[-1])
        return take_back(first, middle, left, state, gradient)

    return take_back(0, layers, left, machine.start, None)

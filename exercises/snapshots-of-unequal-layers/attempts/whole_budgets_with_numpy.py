import numpy as np

NEVER = 10**9


def reverse(machine):
    """One row of steps for every budget at once: room is the axis of an array."""
    layers, units, costs = machine.layers, machine.units, machine.costs
    sizes = machine.most_held + 1
    room = np.arange(sizes)
    before = np.concatenate([[0], np.cumsum(costs)])
    steps, splits = {}, {}
    for length in range(1, layers + 1):
        for first in range(layers - length + 1):
            end = first + length
            if length == 1:
                needed = units[end] + (max(units[first], units[end]) if end == layers else units[first])
                cost = costs[first] if end == layers else 0
                steps[first, end] = np.where(room >= needed, cost, NEVER)
                continue
            rows = []
            for middle in range(first + 1, end):
                right = np.full(sizes, NEVER)
                right[units[middle] :] = steps[middle, end][: sizes - units[middle]]
                rows.append(before[middle] - before[first] + right + steps[first, middle])
            table = np.minimum(np.array(rows), NEVER)
            splits[first, end] = first + 1 + table.argmin(axis=0)
            steps[first, end] = table.min(axis=0)

    def take_back(first, end, left, state, gradient):
        while end - first > 1:
            middle = int(splits[first, end][left])
            passed = [state]
            for layer in range(first, middle):
                passed.append(machine.forward(layer, passed[-1]))
                if len(passed) > 2:
                    machine.free(passed[-2])
            gradient = take_back(middle, end, left - units[middle], passed[-1], gradient)
            machine.free(passed[-1])
            end = middle
        if gradient is None:
            top = machine.forward(first, state)
            gradient = machine.loss(top)
            machine.free(top)
        result = machine.vjp(first, state, gradient)
        machine.free(gradient)
        return result

    return take_back(0, layers, machine.most_held - units[0], machine.start, None)

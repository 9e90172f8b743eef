import math


def reverse(machine):
    """Top-down with a dictionary of its own, and a bound: it stops looking where a split already costs too much."""
    known = {}
    total = [0]
    for cost in machine.costs:
        total.append(total[-1] + cost)

    def fewest(a, b, room):
        if (a, b, room) in known:
            return known[a, b, room]
        at_end = b == machine.layers
        if b - a == 1:
            need = machine.units[b] + max(machine.units[a], machine.units[b] if at_end else 0)
            best = ((machine.costs[a] if at_end else 0) if room >= need else math.inf, None)
        else:
            best = (math.inf, None)
            for m in range(b - 1, a, -1):
                walk = total[m] - total[a]
                if walk >= best[0] or machine.units[m] > room:
                    continue
                left = fewest(a, m, room)[0]
                if walk + left >= best[0]:
                    continue
                steps = walk + left + fewest(m, b, room - machine.units[m])[0]
                if steps < best[0]:
                    best = (steps, m)
        known[a, b, room] = best
        return best

    def run(a, b, room, x):
        """A generator: yields each single layer to pull back with its state."""
        while b - a > 1:
            m = fewest(a, b, room)[1]
            y = x
            for layer in range(a, m):
                z = machine.forward(layer, y)
                if y is not x:
                    machine.free(y)
                y = z
            yield from run(m, b, room - machine.units[m], y)
            machine.free(y)
            b = m
        yield a, x

    g = None
    for layer, x in run(0, machine.layers, machine.most_held - machine.units[0], machine.start):
        if g is None:
            y = machine.forward(layer, x)
            g = machine.loss(y)
            machine.free(y)
        g, old = machine.vjp(layer, x, g), g
        machine.free(old)
    return g

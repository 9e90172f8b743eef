from functools import cache


class Lab:
    """For each stretch the pairs (recomputed layers, memory) that no other pair beats, each with its way."""

    def __init__(self, machine):
        self.machine, self.units, self.end = machine, machine.units, machine.layers
        self.extra = machine.most_forwards - machine.layers
        self.front = cache(self.front)

    def front(self, first, end):
        units, is_last = self.units, end == self.end
        if end == first + 1:
            return [(0, units[end] + max(units[first], units[end] * is_last), None)]
        pairs, walk = [], 0
        for middle in range(first + 1, end):
            passed = [units[middle]] + [units[middle - 1]] * (middle - 1 > first) + [units[end]] * (not is_last)
            walk, again = max(walk, sum(passed)), 0 if is_last else middle - first
            for one, right in enumerate(self.front(middle, end)):
                for two, left in enumerate(self.front(first, middle)):
                    count = again + right[0] + left[0]
                    if count <= self.extra:
                        pairs.append((count, max(walk, units[middle] + right[1], left[1]), (middle, one, two)))
        best = []
        for pair in sorted(pairs, key=lambda pair: pair[:2]):
            if not best or pair[1] < best[-1][1]:
                best.append(pair)
        return best

    def take_back(self, first, end, choice, state, gradient):
        machine, way = self.machine, self.front(first, end)[choice][2]
        if way is None:
            if end == self.end:
                last = machine.forward(first, state)
                gradient = machine.loss(last)
                machine.free(last)
            before = machine.vjp(first, state, gradient)
            machine.free(gradient)
            return before
        middle, one, two = way
        snapshot = state
        for layer in range(first, middle):
            after = machine.forward(layer, snapshot)
            if layer > first:
                machine.free(snapshot)
            snapshot = after
        gradient = self.take_back(middle, end, one, snapshot, gradient)
        machine.free(snapshot)
        return self.take_back(first, middle, two, state, gradient)


def reverse(machine):
    lab = Lab(machine)
    return lab.take_back(0, machine.layers, -1, machine.start, None)

class Planner:
    """Tables for stretches of one layer, then two, and so on, for every amount of room."""

    def __init__(self, machine):
        self.machine = machine
        self.steps, self.split = {}, {}
        for length in range(1, machine.layers + 1):
            for first in range(machine.layers - length + 1):
                for room in range(machine.most_held + 1):
                    self.fill(first, first + length, room)

    def fill(self, first, end, room):
        machine, best = self.machine, (float("inf"), None)
        units = machine.units
        if end == first + 1:
            at_the_end = end == machine.layers
            needed = units[end] + (max(units[first], units[end]) if at_the_end else units[first])
            if needed <= room:
                best = (machine.costs[first] if at_the_end else 0, None)
        else:
            walk = 0
            for middle in range(first + 1, end):
                walk += machine.costs[middle - 1]
                if units[middle] > room:
                    continue
                right = self.steps[middle, end, room - units[middle]]
                total = walk + right + self.steps[first, middle, room]
                if total < best[0]:
                    best = (total, middle)
        self.steps[first, end, room], self.split[first, end, room] = best

    def unwind(self, first, end, room, state, gradient=None):
        machine = self.machine
        if end == first + 1:
            if gradient is None:
                out = machine.forward(first, state)
                gradient = machine.loss(out)
                machine.free(out)
            result = machine.vjp(first, state, gradient)
            machine.free(gradient)
            return result
        middle = self.split[first, end, room]
        here, layer = state, first
        while layer < middle:
            there = machine.forward(layer, here)
            if here is not state:
                machine.free(here)
            here, layer = there, layer + 1
        gradient = self.unwind(middle, end, room - machine.units[middle], here, gradient)
        machine.free(here)
        return self.unwind(first, middle, room, state, gradient)


def reverse(machine):
    planner = Planner(machine)
    return planner.unwind(0, machine.layers, machine.most_held - machine.units[0], machine.start)

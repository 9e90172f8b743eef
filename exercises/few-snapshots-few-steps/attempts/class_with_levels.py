class Backwards:
    def __init__(self, machine, slots):
        self.machine, self.slots = machine, slots
        self.places, self.states = [0], {0: machine.start}
        self.gradient = None
        self.reach = {}

    def longest(self, free, runs):
        """The longest chain that `free` more snapshots and at most `runs` runs of each layer can take back."""
        if free < 0 or runs < 0:
            return 0
        if free == 0 or runs == 0:
            return runs + 1 if free == 0 else 1
        if (free, runs) not in self.reach:
            self.reach[free, runs] = self.longest(free - 1, runs) + self.longest(free, runs - 1)
        return self.reach[free, runs]

    def distance(self, length, free):
        if free <= 0:
            return length - 1
        runs = 0
        while self.longest(free, runs) < length:
            runs += 1
        # What lies behind the snapshot may take `runs` runs with one slot less; what lies before it one run less.
        return max(1, length - self.longest(free - 1, runs), self.longest(free, runs - 2))

    def step(self, end):
        place = self.places[-1]
        while place < end - 1:
            goal = place + self.distance(end - place, self.slots - len(self.places))
            state = self.machine.forward(place, self.states[place])
            for layer in range(place + 1, goal):
                after = self.machine.forward(layer, state)
                self.machine.free(state)
                state = after
            self.places.append(goal)
            self.states[goal] = state
            place = goal
        if self.gradient is None:
            last = self.machine.forward(place, self.states[place])
            self.gradient = self.machine.loss(last)
            self.machine.free(last)
        before = self.machine.vjp(place, self.states[place], self.gradient)
        self.machine.free(self.gradient)
        self.gradient = before
        if place:
            self.machine.free(self.states.pop(self.places.pop()))


def reverse(machine, slots):
    backwards = Backwards(machine, slots)
    for end in range(machine.layers, 0, -1):
        backwards.step(end)
    return backwards.gradient

from functools import lru_cache


def reverse(machine):
    """First a list of instructions, from a stack of stretches and without recursion; then it runs them."""
    alive = {"state 0": machine.start}
    for name, *details in write_program(machine.costs, machine.units, machine.most_held):
        if name == "forward":
            layer = details[0]
            alive[f"state {layer + 1}"] = machine.forward(layer, alive[f"state {layer}"])
        elif name == "free":
            machine.free(alive.pop(f"state {details[0]}"))
        elif name == "loss":
            alive["gradient"] = machine.loss(alive[f"state {machine.layers}"])
        else:
            layer = details[0]
            before = machine.vjp(layer, alive[f"state {layer}"], alive["gradient"])
            machine.free(alive["gradient"])
            alive["gradient"] = before
    return alive["gradient"]


def write_program(costs, units, most_held):
    n = len(costs)

    @lru_cache(None)
    def plan(a, b, room):
        """(steps, split) for layers a..b-1; `room` is what the snapshots, with the one at a, leave."""
        if b == a + 1:
            fits = units[b] + max(units[a], units[b] * (b == n)) <= room
            return (costs[a] * (b == n), b) if fits else (10**12, b)
        options = []
        for m in range(a + 1, b):
            if units[m] <= room:
                right, left = plan(m, b, room - units[m])[0], plan(a, m, room)[0]
                options.append((sum(costs[a:m]) + right + left, m))
        return min(options, default=(10**12, b))

    stack, program = [("stretch", 0, n, most_held - units[0])], []
    while stack:
        task = stack.pop()
        if task[0] != "stretch":
            program.append(task)
            continue
        _, a, b, room = task
        if b == a + 1:
            if b == n:
                program += [("forward", a), ("loss",), ("free", n)]
            program.append(("vjp", a))
            continue
        m = plan(a, b, room)[1]
        for layer in range(a, m):
            program.append(("forward", layer))
            if layer > a:
                program.append(("free", layer))
        stack += [("stretch", a, m, room), ("free", m), ("stretch", m, b, room - units[m])]
    return program

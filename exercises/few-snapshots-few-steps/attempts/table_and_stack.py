def reverse(machine, slots):
    splits = make_table(machine.layers, slots)
    stack, end, gradient = [(0, machine.start)], machine.layers, None
    while end > 0:
        place, state = stack[-1]
        if place < end - 1:
            goal = place + splits[max(slots - len(stack), 0)][end - place]
            stack.append((goal, advance(machine, place, goal, state)))
            continue
        if gradient is None:
            last = machine.forward(place, state)
            gradient = machine.loss(last)
            machine.free(last)
        before = machine.vjp(place, state, gradient)
        machine.free(gradient)
        gradient, end = before, end - 1
        if place > 0:
            machine.free(state)
            stack.pop()
    return gradient


def advance(machine, place, goal, state):
    kept = machine.forward(place, state)
    for layer in range(place + 1, goal):
        after = machine.forward(layer, kept)
        machine.free(kept)
        kept = after
    return kept


def make_table(layers, slots):
    """splits[free][length]: how far to walk from the start of a stretch to the next snapshot."""
    costs = [[n * (n - 1) // 2 for n in range(layers + 1)]]
    splits = [[n - 1 for n in range(layers + 1)]]
    for free in range(1, slots):
        cost, split = [0, 0], [0, 0]
        for n in range(2, layers + 1):
            best = min((m + costs[free - 1][n - m] + cost[m], m) for m in range(1, n))
            cost.append(best[0])
            split.append(best[1])
        costs.append(cost)
        splits.append(split)
    return splits

from functools import lru_cache


@lru_cache(maxsize=None)
def cheapest(length, free):
    """(forward steps, how far to the next snapshot)."""
    if length < 2:
        return 0, 0
    if not free:
        return length * (length - 1) // 2, length - 1
    return min((m + cheapest(length - m, free - 1)[0] + cheapest(m, free)[0], m) for m in range(1, length))


def plan(first, end, free):
    """Steps ("walk", from, to), ("back", layer) and ("drop", place), in order."""
    while end - first > 1:
        middle = first + cheapest(end - first, free)[1]
        yield "walk", first, middle
        yield from plan(middle, end, max(free - 1, 0))
        yield "drop", middle, middle
        end = middle
    yield "back", first, end


def reverse(machine, slots):
    held, gradient = {0: machine.start}, None
    for what, first, last in plan(0, machine.layers, slots - 1):
        if what == "drop":
            machine.free(held.pop(first))
        elif what == "walk":
            state = machine.forward(first, held[first])
            for layer in range(first + 1, last):
                passed, state = state, machine.forward(layer, state)
                machine.free(passed)
            held[last] = state
        else:
            if gradient is None:
                output = machine.forward(first, held[first])
                gradient = machine.loss(output)
                machine.free(output)
            behind, gradient = gradient, machine.vjp(first, held[first], gradient)
            machine.free(behind)
    return gradient

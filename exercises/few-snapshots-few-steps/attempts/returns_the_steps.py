from functools import cache


def reverse(machine, slots):
    """The gradient at the start. Its state fills one of the slots."""
    pull_back(machine, 0, machine.layers, machine.start, slots - 1, None)


def pull_back(machine, first, end, state, free, gradient):
    """The gradient before layer `first`, of the one behind the layers up to `end`, from the state before `first`.

    That state is the caller's, and is not freed here. At the chain's end there is no gradient yet: it is None, and
    comes from the loss.
    """
    while end - first > 1:
        middle = first + choose_split(end - first, free)
        kept = walk(machine, first, middle, state)
        gradient = pull_back(machine, middle, end, kept, max(free - 1, 0), gradient)
        machine.free(kept)
        end = middle
    if gradient is None:
        last = machine.forward(first, state)
        gradient = machine.loss(last)
        machine.free(last)
    before = machine.vjp(first, state, gradient)
    machine.free(gradient)
    return before


def walk(machine, first, end, state):
    """The state before layer `end`, with nothing kept on the way."""
    reached = machine.forward(first, state)
    for layer in range(first + 1, end):
        after = machine.forward(layer, reached)
        machine.free(reached)
        reached = after
    return reached


def choose_split(layers, free):
    """How far to walk before the next snapshot. Without a free slot: as far as needed, for a moment."""
    if free == 0:
        return layers - 1
    return min(range(1, layers), key=lambda m: m + count_steps(layers - m, free - 1) + count_steps(m, free))


@cache
def count_steps(layers, free):
    """The forward steps that a gradient's way back through so many layers takes, with so many free slots."""
    if layers <= 1:
        return 0
    if free == 0:
        return layers * (layers - 1) // 2
    m = choose_split(layers, free)
    return m + count_steps(layers - m, free - 1) + count_steps(m, free)

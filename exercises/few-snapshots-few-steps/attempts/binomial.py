from math import comb


def reverse(machine, slots):
    """The same schedule without a search: a stretch splits where the binomial coefficients say."""
    return go_back(machine, 0, machine.layers, machine.start, slots - 1, [])


def go_back(machine, first, end, state, free, gradients):
    """`gradients` holds the gradient behind `end` if there is one yet; it is replaced by the one before `first`."""
    while end - first > 1:
        middle = first + split(end - first, free)
        kept = machine.forward(first, state)
        for layer in range(first + 1, middle):
            before, kept = kept, machine.forward(layer, kept)
            machine.free(before)
        go_back(machine, middle, end, kept, max(free - 1, 0), gradients)
        machine.free(kept)
        end = middle
    if not gradients:
        last = machine.forward(first, state)
        gradients.append(machine.loss(last))
        machine.free(last)
    gradients.append(machine.vjp(first, state, gradients[0]))
    machine.free(gradients.pop(0))
    return gradients[0]


def split(layers, free):
    """With `free` slots and each layer run at most r times, comb(free + 1 + r, r) layers can be taken back."""
    if free == 0:
        return layers - 1
    repeats = 0
    while comb(free + 1 + repeats, repeats) < layers:
        repeats += 1
    most_right = comb(free + repeats, repeats)
    least_left = comb(free + repeats - 1, repeats - 2) if repeats > 1 else 1
    return max(1, least_left, layers - most_right)

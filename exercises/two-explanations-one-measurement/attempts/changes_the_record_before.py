"""Changes the record right before a step, for five steps in turn, and no other record."""


def reaches_back(make):
    return any(measure(make, number, 2) != measure(make, number, 7) for number in range(2, 7))


def measure(make, number, before):
    step = make()
    for _ in range(number - 2):
        step(4)
    step(before)
    return step(4).nodes

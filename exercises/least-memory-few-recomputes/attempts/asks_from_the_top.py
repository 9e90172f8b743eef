from functools import cache
from math import inf


def reverse(machine):
    """The least memory as a recursion from the whole chain down, and a list of handles as the stack of snapshots."""
    units, chain = machine.units, machine.layers

    @cache
    def least(first, end, extra):
        is_top = end == chain
        if end - first == 1:
            return units[end] + max(units[first], units[end] * is_top), None
        best, waiting = (inf, None), 0 if is_top else units[end]
        for middle in range(first + 1, end):
            spent = 0 if is_top else middle - first
            passed = [units[i] + (units[i - 1] if i - 1 > first else 0) for i in range(first + 1, middle + 1)]
            for right in range(extra - spent + 1):
                right_part = units[middle] + least(middle, end, right)[0]
                if right_part < best[0]:
                    left_part = least(first, middle, extra - spent - right)[0]
                    best = min(best, (max(waiting + max(passed), right_part, left_part), (middle, right)))
        return best

    stack, gradient = [machine.start], None
    todo = [(0, chain, machine.most_forwards - chain)]
    while todo:
        task = todo.pop()
        if task == "free":
            machine.free(stack.pop())
            continue
        first, end, extra = task
        if end - first == 1:
            if gradient is None:
                last = machine.forward(first, stack[-1])
                gradient = machine.loss(last)
                machine.free(last)
            old, gradient = gradient, machine.vjp(first, stack[-1], gradient)
            machine.free(old)
            continue
        middle, right = least(first, end, extra)[1]
        state = machine.forward(first, stack[-1])
        for layer in range(first + 1, middle):
            old, state = state, machine.forward(layer, state)
            machine.free(old)
        stack.append(state)
        left = extra - right - (0 if end == chain else middle - first)
        todo += [(first, middle, left), "free", (middle, end, right)]
    return gradient

"""An answer to the ranked lab that holds less than every plain plan; see test_least_memory_few_recomputes.py."""

from functools import cache
from math import inf


def reverse(machine):
    """Also looks at plans that drop the newest snapshot for a later state, and come back from the one below."""
    units, layers = machine.units, machine.layers
    most = machine.most_forwards - layers

    def join(again, walked, right, left, note, found):
        """Adds what a choice costs, for every number of recomputed layers, where it is less."""
        for one in range(most - again + 1):
            needed = max(walked, right[one][0])
            for two in range(most - again - one + 1):
                total = again + one + two
                if max(needed, left[two][0]) < found[total][0]:
                    found[total] = (max(needed, left[two][0]), (*note, one, two))

    def settle(found):
        for number in range(1, most + 1):
            if found[number - 1][0] < found[number][0]:
                found[number] = found[number - 1]
        return found

    def lift(table, more):
        return [(needed + more, note) for needed, note in table]

    def walk_needs(first, end, goal):
        """The most that a walk holds besides the state it starts from, with the gradient that waits."""
        gradient = 0 if end == layers else units[end]
        return gradient + max(units[i] + (units[i - 1] if i - 1 > first else 0) for i in range(first + 1, goal + 1))

    @cache
    def stretch(first, end):
        """From the gradient after layer end - 1 to the one before `first`, whose state stays."""
        if end == first + 1:
            needed = units[end] + max(units[first], units[end] if end == layers else 0)
            return [(needed, ("leaf",))] * (most + 1)
        found = [(inf, None)] * (most + 1)
        nothing = [(0, None)] * (most + 1)
        for top in range(first + 1, end):
            again = 0 if end == layers else top - first
            if again <= most:
                join(again, walk_needs(first, end, top), two_held(first, top, end), nothing, ("walk", top), found)
        return settle(found)

    @cache
    def two_held(low, top, end):
        """The same back to `low`, as `top` is a snapshot too, which may be dropped."""
        found = [(inf, None)] * (most + 1)
        if end == top + 1:
            join(0, 0, lift(stretch(top, end), units[top]), stretch(low, top), ("last",), found)
            return settle(found)
        for middle in range(top + 1, end):
            again = 0 if end == layers else middle - top
            if again > most:
                break
            walked = units[top] + walk_needs(top, end, middle)
            right = lift(stretch(middle, end), units[top] + units[middle])
            join(again, walked, right, two_held(low, top, middle), ("split", middle), found)
            join(again, walked, two_held(low, middle, end), [(0, None)] * (most + 1), ("move", middle), found)
        return settle(found)

    def walk(first, goal, state):
        reached = state
        for layer in range(first, goal):
            after = machine.forward(layer, reached)
            if reached is not state:
                machine.free(reached)
            reached = after
        return reached

    def run(first, end, left, state, gradient):
        note = stretch(first, end)[left][1]
        if note[0] == "leaf":
            if gradient is None:
                last = machine.forward(first, state)
                gradient = machine.loss(last)
                machine.free(last)
            before = machine.vjp(first, state, gradient)
            machine.free(gradient)
            return before
        _, top, left, _ = note
        return run_two(first, top, end, left, state, walk(first, top, state), gradient)

    def run_two(low, top, end, left, below, above, gradient):
        while True:
            kind, *where, one, two = two_held(low, top, end)[left][1]
            if kind == "last":
                gradient = run(top, end, one, above, gradient)
                machine.free(above)
                return run(low, top, two, below, gradient)
            state = walk(top, where[0], above)
            if kind == "move":
                machine.free(above)
                top, above, left = where[0], state, one
            else:
                gradient = run(where[0], end, one, state, gradient)
                machine.free(state)
                end, left = where[0], two

    return run(0, layers, most, machine.start, None)

"""Cases: chains whose layers cost unequal numbers of steps and whose states have unequal sizes, each with a budget of
memory and the fewest steps that it allows.
"""

from functools import cache
from math import inf

COSTS = (1, 1, 2, 2, 3, 5, 8, 13)


def draw_cases(rng):
    cases = [
        draw_case(
            "5 layers, one expensive",
            "Five layers whose states all have one size; one layer costs as much as four others",
            [1, 1, 4, 1, 1],
            [1] * 6,
            5,
        ),
        draw_case(
            "6 layers, shrinking states",
            "Six layers of one cost; the states shrink along the chain",
            [1] * 6,
            [6, 5, 5, 5, 4, 4, 4],
            22,
        ),
        draw_case("24 layers", "Twenty-four layers of unequal costs, and states of unequal sizes", *LONG_CHAIN),
        draw_case("1 layer", "A chain of one layer", [4], [3, 2], 8),
        draw_case(
            "room for every state", "The budget has room for every state: no layer runs twice", *with_room(rng)
        ),
        draw_case("no room to spare", "The smallest budget that can work at all", *without_room(rng)),
        draw_case("expensive in the middle", "Cheap layers before and after three expensive ones", *EXPENSIVE_MIDDLE),
        draw_case("a new chain", "A chain that is new in every run", *draw_chain(rng, 16, 20)),
        draw_case("a longer new chain", "A longer chain that is new in every run", *draw_chain(rng, 21, 26)),
        draw_case("other costs", "The twenty-four layers again, with their costs in reverse order", *OTHER_COSTS),
    ]
    for hidden in cases[3:]:
        hidden |= {"public": False, "shown": ""}
    return cases


LONG_CHAIN = (
    [2, 1, 8, 1, 3, 1, 5, 2, 13, 1, 1, 8, 2, 3, 1, 5, 1, 2, 8, 1, 1, 3, 2, 5],
    [8, 8, 7, 7, 7, 6, 6, 6, 6, 5, 5, 5, 5, 5, 4, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3],
    42,
)
# As many layers, the same states and the same budget: a plan remembered from the chain above is wrong here.
OTHER_COSTS = (LONG_CHAIN[0][::-1], *LONG_CHAIN[1:])
EXPENSIVE_MIDDLE = (
    [1, 1, 1, 1, 40, 30, 50, 1, 1, 1, 1, 1],
    [6, 6, 5, 5, 5, 4, 4, 4, 3, 3, 3, 3, 3],
    28,
)


def with_room(rng):
    costs, units = draw_sizes(rng, 9)
    return costs, units, sum(units) + 2 * max(units)


def without_room(rng):
    costs, units = draw_sizes(rng, 8)
    return costs, units, find_smallest(costs, units)


def draw_chain(rng, shortest, longest):
    costs, units = draw_sizes(rng, rng.randint(shortest, longest))
    smallest = find_smallest(costs, units)
    return costs, units, smallest + rng.randint(3, 3 + sum(units) // 8)


def draw_sizes(rng, layers):
    costs = [rng.choice(COSTS) for _ in range(layers)]
    return costs, sorted((rng.randint(3, 9) for _ in range(layers + 1)), reverse=True)


def find_smallest(costs, units):
    """The smallest budget with which the gradient can be reached. Layer 0 needs two gradients and the start."""
    most_held = 2 * units[0] + units[1]
    while count_steps(costs, units, most_held) == inf:
        most_held += 1
    return most_held


def draw_case(name, idea, costs, units, most_held):
    return {
        "name": name,
        "idea": idea,
        "finding": "wrong-gradient",
        "public": True,
        "inputs": {},
        "machine": {
            "layers": len(costs),
            "costs": costs,
            "units": units,
            "most_forwards": count_steps(costs, units, most_held),
            "most_held": most_held,
        },
        "shown": f"costs = {costs}\nunits = {units}\nmost_held = {most_held}",
        "slow": "slow-plan",
    }


def count_steps(costs, units, most_held):
    """The fewest forward steps that reach the gradient at the start while at most `most_held` units are held.

    Infinite if the budget is too small. A search through all programs on short chains finds nothing better, as long
    as no state is larger than the one before it. With growing states it does.
    """
    layers = len(costs)

    @cache
    def go_back(first, end, kept):
        """From the gradient after layer end - 1 to the one before `first`; `kept` counts the snapshots so far."""
        gradient = 0 if end == layers else units[end]
        if end - first == 1:
            most = kept + units[end] + max(units[first], units[end] if end == layers else 0)
            return (costs[first] if end == layers else 0) if most <= most_held else inf
        best, walk, left = inf, 0, 0
        for middle in range(first + 1, end):
            if kept + gradient + left + units[middle] > most_held:
                break
            walk, left = walk + costs[middle - 1], units[middle]
            best = min(best, walk + go_back(middle, end, kept + left) + go_back(first, middle, kept))
        return best

    return go_back(0, layers, units[0])

"""Cases: fresh chains whose states have unequal sizes, each with a number of recomputations, and a bound of memory:
the least that a plan needs in which each snapshot stays until the layers after it are done.
"""

import numpy as np

NEVER = 10**6
# A plan whose walks forget the gradient seems to need 24 units less here, and holds more than the bound.
WAITING = [31, 83, 59, 24, 76, 28, 35, 68, 36, 95, 41]


def draw_cases(rng):
    cases = [
        draw_case("growing", "States that grow along the chain", sorted(draw_sizes(rng)), rng),
        draw_case("a hill", "States that grow to the middle, and then shrink", draw_hill(rng), rng),
        draw_case("teeth", "Every fourth state is small", draw_teeth(rng), rng),
        draw_case("any order", "Sizes in any order", draw_sizes(rng), rng),
        draw_case("1 layer", "A chain of one layer", [rng.randint(20, 90) for _ in range(2)], rng, 0),
        draw_case("nothing twice", "No recomputation at all", draw_sizes(rng)[:12], rng, 0),
        draw_case(
            "many times", "A short chain, and as many recomputations as can help", draw_sizes(rng)[:9], rng, 28
        ),
        draw_case("equal sizes", "States that all have one size", [50] * 17, rng, 8),
        draw_case("shrinking", "States that shrink along the chain", sorted(draw_sizes(rng)[:12], reverse=True), rng),
        draw_case("a gradient waits", "A gradient is held during a long walk", WAITING, rng, 13),
    ]
    for hidden in cases[4:]:
        hidden |= {"public": False, "shown": ""}
    return cases


def draw_sizes(rng):
    return [rng.randint(20, 99) for _ in range(rng.randint(17, 20))]


def draw_hill(rng):
    sizes = sorted(draw_sizes(rng))
    return sizes[::2] + sizes[1::2][::-1]


def draw_teeth(rng):
    return [size // 4 if place % 4 == 2 else size for place, size in enumerate(draw_sizes(rng))]


def draw_case(name, idea, units, rng, recomputed=None):
    layers = len(units) - 1
    if recomputed is None:
        recomputed = rng.randint(layers, 3 * layers // 2)
    most_held = find_least(units, recomputed)
    return {
        "name": name,
        "idea": idea,
        "finding": "wrong-gradient",
        "public": True,
        "inputs": {},
        "machine": {
            "layers": layers,
            "units": units,
            "most_forwards": layers + recomputed,
            "most_held": most_held,
        },
        "shown": f"units = {units}\nmost_forwards = {layers + recomputed}\nmost_held = {most_held}",
    }


def find_least(units, recomputed):
    """The least memory with so many recomputed layers, if each snapshot stays until the layers after it are done.

    A program that drops a snapshot early and computes it again later may need less.
    """
    steps = count_steps(units)
    return int(np.argmax(steps <= len(units) - 1 + recomputed))


def count_steps(units):
    """The fewest forward steps for each amount of memory, from 0 units up to room for every state."""
    layers = len(units) - 1
    room = np.arange(sum(units) + max(units) + 1)
    steps = {}
    for length in range(1, layers + 1):
        for first in range(layers - length + 1):
            end = first + length
            # `room` is what the snapshots leave, with the one before layer `first`.
            steps[first, end] = join(steps, units, first, end, room) if length > 1 else try_one(units, end, room)
    return np.concatenate([np.full(units[0], NEVER), steps[0, layers]])[: len(room)]


def try_one(units, end, room):
    is_last = end == len(units) - 1
    needed = units[end] + max(units[end - 1], units[end] if is_last else 0)
    return np.where(room >= needed, int(is_last), NEVER)


def join(steps, units, first, end, room):
    gradient = units[end] if end < len(units) - 1 else 0
    fewest, walk = np.full(len(room), NEVER), 0
    for middle in range(first + 1, end):
        passed = units[middle - 1] if middle - 1 > first else 0
        walk = max(walk, gradient + passed + units[middle])
        total = middle - first + steps[first, middle]
        total[units[middle] :] += steps[middle, end][: -units[middle]]
        total[: max(walk, units[middle])] = NEVER
        np.minimum(fewest, total, out=fewest)
    return fewest

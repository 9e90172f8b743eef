"""Cases: chains of several lengths, each with a number of slots, and the fewest steps that these slots allow."""

from functools import cache

BESIDE_THE_SLOTS = 3


def draw_cases(rng):
    cases = [
        draw_case("4 layers, 2 slots", "Four layers: one snapshot beside the start", 4, 2),
        draw_case(
            "12 layers, 3 slots", "Twelve layers: where do two snapshots go, and where do they go next?", 12, 3
        ),
        draw_case("40 layers, 5 slots", "Forty layers with five slots", 40, 5),
        draw_case("1 layer, 1 slot", "A chain of one layer", 1, 1),
        draw_case("9 layers, 9 slots", "As many slots as layers: nothing need be computed twice", 9, 9),
        draw_case("16 layers, 1 slot", "The start alone: everything comes from it", 16, 1),
        draw_case("64 layers, 6 slots", "Sixty-four layers with six slots", 64, 6),
        draw_case(
            "any length",
            "A length and a number of slots that are new in every run",
            rng.randint(30, 90),
            rng.randint(3, 7),
        ),
    ]
    for hidden in cases[3:]:
        hidden |= {"public": False, "shown": ""}
    return cases


def draw_case(name, idea, layers, slots):
    return {
        "name": name,
        "idea": idea,
        "finding": "wrong-gradient",
        "public": True,
        "inputs": {"slots": slots},
        "machine": {
            "layers": layers,
            "most_forwards": 1 + count_steps(layers, slots - 1),
            "most_held": slots + BESIDE_THE_SLOTS,
        },
        "shown": f"{layers} layers, {slots} slots",
        "slow": "slow-plan",
    }


@cache
def count_steps(layers, free):
    """The fewest forward steps that take a gradient back through so many layers, with so many slots beside the start.

    The first walk, to the loss, takes one more. A search through all programs finds nothing better.
    """
    if layers <= 1:
        return 0
    if free == 0:
        return layers * (layers - 1) // 2
    return min(m + count_steps(layers - m, free - 1) + count_steps(m, free) for m in range(1, layers))

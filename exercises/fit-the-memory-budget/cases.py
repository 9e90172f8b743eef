"""Cases: small ones for the numbers alone, then 36 blocks of real sizes, whose memory the kernel measures.

A unit is one tensor at the boundary of two blocks. Inside, a block saves nine of them. Measured, in units: segments
of 2 blocks 41, of 3 44, of 1 or 4 50, of 6 65; no checkpoints, and one big segment, 331.

The same chain on a metered machine has three layers a block.
"""

MOST_UNITS = 47
LAYERS_IN_BLOCK = 3
UNITS_IN_BLOCK = (1, 4, 4)


def draw_cases(rng):
    cases = [
        draw_case(rng, "7 blocks", "Seven blocks: neither two nor three divides them", 7, 64, 8),
        draw_case(rng, "36 blocks", "36 blocks, within the budget", 36, 12288, 16, True),
        draw_machine("36 blocks by hand", "The same 36 blocks on the machine, every step counted", 36),
        draw_case(rng, "1 block", "A network of a single block", 1, 64, 8),
        draw_case(rng, "11 blocks", "Eleven blocks, new numbers", 11, 48, 12),
        draw_machine("fewer blocks by hand", "A number of blocks that is new in every run", rng.randint(20, 35)),
    ]
    for hidden in cases[3:]:
        hidden |= {"public": False, "shown": ""}
    return cases


def draw_case(rng, name, idea, blocks, rows, width, measured=False):
    case = {
        "name": name,
        "idea": idea,
        "finding": "wrong-gradient",
        "public": True,
        "inputs": {"seed": rng.getrandbits(40), "blocks": blocks, "rows": rows, "width": width},
        "shown": f"{blocks} blocks; x has shape [{rows}, {width}]",
    }
    return case | ({"peak": {"unit_bytes": 8 * rows * width, "most_units": MOST_UNITS}} if measured else {})


def draw_machine(name, idea, blocks):
    layers = LAYERS_IN_BLOCK * blocks
    return {
        "name": name,
        "idea": idea,
        "finding": "wrong-order",
        "public": True,
        "inputs": {},
        "machine": {
            "layers": layers,
            "units": [*UNITS_IN_BLOCK * blocks, 1],
            "most_forwards": 2 * layers,
            "most_held": MOST_UNITS,
        },
        "shown": f"{blocks} blocks, {layers} layers",
    }


def diagnose(inputs, got, expected):
    if abs(got["loss"] - expected["loss"]) > 1e-6 * abs(expected["loss"]):
        return "another-network"
    if any(gradient == 0 for gradient in got["gradients"]):
        return "no-gradient"
    return None

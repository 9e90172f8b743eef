"""The cases of one run, drawn from a secret seed: one idea per case, the simplest first."""

import random


def draw_cases(rng: random.Random) -> list[dict[str, object]]:
    one = rng.uniform(2.0, 9.0)
    # All positive and away from zero: with numbers like 1 and -1, a wrong answer could be right by accident.
    several = [rng.uniform(1.0, 5.0) for _ in range(rng.randint(3, 6))]
    return [
        {
            "name": "one number",
            "idea": "A list with one number gives its square.",
            "finding": "not-squared",
            "public": True,
            "inputs": {"values": [one]},
            "shown": f"sum_of_squares([{one}])",
        },
        {
            "name": "several numbers",
            "idea": "Several numbers give the sum of their squares.",
            "finding": "squares-the-sum",
            "public": False,
            "inputs": {"values": several},
        },
    ]

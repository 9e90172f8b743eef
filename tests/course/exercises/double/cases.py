import random


def draw_cases(rng: random.Random) -> list[dict]:
    public = float(rng.randint(2, 9))
    hidden = rng.uniform(1.0, 100.0)
    return [
        {
            "name": "a small number",
            "idea": "A number is doubled.",
            "finding": "not-doubled",
            "public": True,
            "inputs": {"x": public},
            "shown": f"double({public})",
        },
        {
            "name": "any number",
            "idea": "Any number is doubled.",
            "finding": "not-doubled",
            "public": False,
            "inputs": {"x": hidden},
        },
    ]

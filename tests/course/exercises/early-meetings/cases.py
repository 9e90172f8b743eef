def draw_cases(rng):
    return [draw_case(rng, number, public=number != 2) for number in (1, 2, 3)]


def draw_case(rng, number, public):
    start = rng.randint(400, 800)
    return {
        "name": f"meeting {number}",
        "idea": "A meeting of some hours",
        "finding": "too-early",
        "public": public,
        "inputs": {"start": start, "hours": number},
        "shown": f"{start}, {number} h" if public else "",
    }

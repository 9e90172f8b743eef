def draw_cases(rng):
    small = rng.randrange(3, 6)
    return [
        draw_case("a few layers", small, None, None),
        draw_case("sixteen, with room", 16, 16, 19),
        draw_case("sixteen, without room", 16, 28, 9),
        draw_case("another sixteen", 16, 28, 9, public=False),
    ]


def draw_case(name, layers, most_forwards, most_held, public=True):
    return {
        "name": name,
        "idea": f"A chain of {layers} layers",
        "finding": "wrong-gradient",
        "public": public,
        "inputs": {},
        "machine": {"layers": layers, "most_forwards": most_forwards, "most_held": most_held},
        "shown": f"{layers} layers",
    }

"""Cases: one backward, then each rule that such a hook can break, then random models with everything at once."""

from itertools import pairwise

import numpy as np

RANDOM_CASES = 4
NEAR = 1e-9

ONE = [["install"], ["backward", 0]]
TWO = [*ONE, ["backward", 1]]
OFF = [*TWO, ["remove"], ["backward", 2]]


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    small, deep, deeper = [3, 2], [3, 4, 2], [3, 4, 4, 2]
    rows = [
        ("one layer", "Each parameter is updated by the backward itself", "not-updated", small, ONE, {}),
        ("two layers", "Each parameter moves by its own gradient", "wrong-update", deep, ONE, {}),
        ("during the backward", "The last layers are done before the first", "not-at-once", deeper, ONE, {}),
        ("a second step", "The second gradient is taken at the new parameters", "wrong-second-step", deep, TWO, {}),
        ("removed", "After removal, a backward fills .grad as usual", "not-removed", deep, OFF, {}),
        (
            "other hooks",
            "Hooks that were registered elsewhere still work, before and after removal",
            "removes-too-much",
            deep,
            OFF,
            {"others": True},
        ),
        ("a frozen layer", "Frozen parameters stay", "frozen", deep, ONE, {"frozen": [0, 1]}),
        (
            "used twice",
            "A parameter that is used twice is updated once",
            "counts-uses",
            [3, 3, 2],
            TWO,
            {"tied": True},
        ),
        ("an unused layer", "A parameter without a gradient stays", "unreached", deep, TWO, {"spare": True}),
    ]
    cases = [case(draw, *row) for row in rows]
    for number in range(1, RANDOM_CASES + 1):
        sizes = [3, 3, *(rng.randint(2, 5) for _ in range(rng.randint(1, 3)))]
        settings = {
            "frozen": sorted(rng.sample(range(2 * len(sizes) - 2), number % 3)),
            "tied": number % 2 == 0,
            "spare": number > 2,
            "others": number == 3,
        }
        idea = f"Random model {number} of {RANDOM_CASES}: shared, frozen and unused layers, several steps"
        found = case(draw, f"random model {number}", idea, "larger", sizes, OFF, settings)
        cases.append(found | {"public": False, "shown": ""})
    return cases


def diagnose(inputs, got, expected):
    """What the first backward did, what it left, and when."""
    if got["refused"]:
        return "frozen"
    start = inputs["weights"]
    moved, right = got["parameters"][0] - start, expected["parameters"][0] - start
    if not is_near(moved, right):
        return name_move(inputs, moved, right)
    if np.any(got["gradients left"] > expected["gradients left"]):
        return "grads-kept"
    if not is_near(got["parameters"], expected["parameters"]):
        return None
    if not is_near(got["parameters during"], expected["parameters during"]):
        return "not-at-once"
    if np.any(got["gradients left during"] > expected["gradients left during"]):
        return "not-at-once"
    if np.any(got["gradients in memory"] > expected["gradients in memory"]):
        return "holds-gradients"
    return None


def name_move(inputs, moved, right):
    if inputs["tied"] or inputs["others"]:
        return None
    if is_near(moved, -right):
        return "ascends"
    if is_near(moved, right / inputs["lr"]):
        return "forgets-rate"
    if is_near(moved, 0 * right):
        return "not-updated"
    there = moved != 0
    if there.sum() < (right != 0).sum():
        return "closure-bug"
    return None if inputs["frozen"] or inputs["spare"] else "wrong-update"


def case(draw, name, idea, finding, sizes, steps, settings):
    pairs = [*pairwise(sizes), *([(2, 2)] if settings.get("spare") else [])]
    count = sum(ins * outs + outs for ins, outs in pairs)
    inputs = {
        "sizes": sizes,
        "steps": steps,
        "frozen": settings.get("frozen", []),
        "tied": settings.get("tied", False),
        "spare": settings.get("spare", False),
        "others": settings.get("others", False),
        "lr": round(float(draw.uniform(0.02, 0.09)), 3),
        "weights": np.round(draw.choice([-1.0, 1.0], count) * draw.uniform(0.2, 0.9, count), 3),
        "batches": np.round(draw.uniform(-1.5, 1.5, (3, 4, sizes[0])), 3),
    }
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": inputs,
        "shown": write_program(inputs),
    }


def write_program(inputs):
    layers = ", ".join(f"Linear({ins}, {outs})" for ins, outs in pairwise(inputs["sizes"]))
    lines = [f"model: {layers}, tanh after each{'; the first is used twice' if inputs['tied'] else ''}"]
    lines += ["one more layer that the forward pass does not use"] if inputs["spare"] else []
    lines += ["the first layer is frozen"] if inputs["frozen"] else []
    lines += ["other hooks: one triples each gradient; one doubles .grad after remove()"] if inputs["others"] else []
    written = {
        "install": f"remove = install(model, {inputs['lr']})",
        "remove": "remove()",
    }
    lines += [
        f"model(batch_{what[0]}).backward()" if step == "backward" else written[step]
        for step, *what in inputs["steps"]
    ]
    return "\n".join(lines)


def is_near(got, wrong):
    return got.shape == wrong.shape and np.allclose(got, wrong, rtol=NEAR, atol=NEAR)

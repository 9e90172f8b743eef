"""Cases: one backward, then each rule that a hook can break, then random models with everything at once."""

from itertools import pairwise

import numpy as np

RANDOM_CASES = 4
NEAR = 1e-9

ONE = [["attach", "a"], ["backward", 0]]


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    small, deep = [3, 2], [3, 4, 2]
    rows = [
        ("one layer", "Each parameter has its entry after a backward", "no-norms", small, ONE),
        ("two layers", "Each name has the norm of its own parameter", "closure-bug", deep, ONE),
        ("gradients", "The gradients are those without a monitor", "changes-grad", deep, [*ONE, ["backward", 1]]),
        (
            "a second step",
            "After zero_grad, the norm is the new gradient's",
            "accumulated",
            deep,
            [*ONE, ["zero"], ["backward", 1]],
        ),
        (
            "no zero_grad",
            "Without it, .grad adds up, and the norm is still this backward's",
            "accumulated",
            deep,
            [*ONE, ["backward", 1]],
        ),
        (
            "taken off",
            "After removal nothing is written",
            "not-removed",
            deep,
            [*ONE, ["remove", "a"], ["backward", 1]],
        ),
        (
            "two monitors",
            "Taking one off leaves the other",
            "removes-too-much",
            deep,
            [["attach", "a"], ["attach", "b"], ["backward", 0], ["remove", "a"], ["backward", 1]],
        ),
    ]
    cases = [case(draw, *row) for row in rows]
    cases.append(case(draw, "a frozen layer", "Frozen parameters have no entry", "frozen", deep, ONE, frozen=[0, 1]))
    tied = case(
        draw,
        "used twice",
        "A parameter that is used twice has one gradient",
        "counts-uses",
        [3, 3, 2],
        ONE,
        tied=True,
    )
    cases.append(tied)
    for number in range(1, RANDOM_CASES + 1):
        sizes = [3, 3, *(rng.randint(2, 5) for _ in range(rng.randint(1, 3)))]
        frozen = sorted(rng.sample(range(2 * len(sizes) - 2), rng.choice([0, 1, 2])))
        idea = f"Random model {number} of {RANDOM_CASES}: tied, frozen, attached and taken off"
        found = case(draw, f"random model {number}", idea, "larger", sizes, draw_steps(rng), frozen, number % 2 == 0)
        cases.append(found | {"public": False, "shown": ""})
    return cases


def diagnose(inputs, got, expected):
    """What the norms, the gradients or the hooks that are left say of the monitor."""
    if got["refused"]:
        return "frozen"
    if np.any(got["norms"] == -2.0):
        return "holds-tensors"
    if not is_near(got["gradients"], expected["gradients"]):
        return "changes-grad"
    ours, wanted = got["norms"], expected["norms"]
    if np.any((wanted < 0) & (ours >= 0)):
        return "not-removed" if ["remove", "a"] in inputs["steps"] else None
    if np.any((wanted >= 0) & (ours < 0)):
        return name_missing(inputs, ours, wanted)
    return "not-removed" if is_near(ours, wanted) and got["hooks left"] else name_number(inputs, ours, wanted)


def name_missing(inputs, ours, wanted):
    if inputs["steps"] != ONE or inputs["frozen"]:
        return None
    last = np.flatnonzero(wanted >= 0)[-1]
    return "closure-bug" if list(np.flatnonzero(ours >= 0)) == [last] else "no-norms"


def name_number(inputs, ours, wanted):
    """All entries are there, and some number is off."""
    if inputs["steps"] == ONE and not inputs["tied"]:
        return "wrong-norm"
    there = wanted >= 0
    if is_near(ours[there], wanted[there] ** 2):
        return "wrong-norm"
    half = len(ours) // 2
    if is_near(ours[half:], ours[:half]):
        return "stale"
    calls = [step for step, *_ in inputs["steps"]]
    return "accumulated" if calls.count("backward") > 1 and "remove" not in calls else None


def case(draw, name, idea, finding, sizes, steps, frozen=(), tied=False):
    count = sum(ins * outs + outs for ins, outs in pairwise(sizes))
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": {
            "sizes": sizes,
            "steps": steps,
            "frozen": list(frozen),
            "tied": tied,
            "weights": np.round(draw.choice([-1.0, 1.0], count) * draw.uniform(0.2, 0.9, count), 3),
            "batches": np.round(draw.uniform(-1.5, 1.5, (3, 4, sizes[0])), 3),
        },
        "shown": write_program(sizes, steps, frozen, tied),
        "labels": label(sizes, steps),
    }


def label(sizes, steps):
    """The norms by monitor, parameter and backward, in the order in which the probe reads them; the gradients."""
    shapes = {}
    for place, (ins, outs) in enumerate(pairwise(sizes)):
        shapes |= {f"layers.{place}.weight": [outs, ins], f"layers.{place}.bias": [outs]}
    monitors, norms, calls = [], {}, 0
    for step, *what in steps:
        monitors += what if step == "attach" else []
        if step == "backward":
            calls += 1
            norms |= {f"{one}['{name}'] after backward {calls}": [] for one in monitors for name in shapes}
    return {"norms": norms, "gradients": shapes}


def draw_steps(rng):
    """Two monitors, one of which is taken off, and three backward calls with or without zero_grad between them."""
    zero = [["zero"]] if rng.random() < 0.5 else []
    first = [["attach", "a"], ["backward", 0], *zero, ["attach", "b"], ["backward", 1]]
    return [*first, ["remove", rng.choice("ab")], ["backward", 2]]


def write_program(sizes, steps, frozen, tied):
    layers = ", ".join(f"Linear({ins}, {outs})" for ins, outs in pairwise(sizes))
    lines = [f"model: {layers}, tanh after each{'; the first is used twice' if tied else ''}"]
    lines += ["the first layer is frozen"] if frozen else []
    for step, *what in steps:
        if step == "attach":
            lines.append(f"{what[0]} = {{}}; take_off_{what[0]} = attach(model, {what[0]})")
        elif step == "backward":
            lines.append(f"model(batch_{what[0]}).backward()  # then all norms are read; -1 is none, -2 is no float")
        else:
            lines.append("model.zero_grad()" if step == "zero" else f"take_off_{what[0]}(); {what[0]}.clear()")
    return "\n".join(lines)


def is_near(got, wrong):
    return got.shape == wrong.shape and np.allclose(got, wrong, rtol=NEAR, atol=NEAR)

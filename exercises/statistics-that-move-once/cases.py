"""Cases: one norm, then what goes wrong with several calls, other norms and other modes, then what the kernel counts.

A unit is one tensor at a boundary, 1 MiB. Measured with 14 stretches, in units: no checkpoint 59, the norms'
results saved 38, one stretch again 21 to 24.
"""

import numpy as np

STRETCHES, MOST_UNITS = 14, 46
ROWS, WIDTH = 8192, 16
RANDOM_CASES = 3
NEAR = 1e-9
PLAIN = ["linear", "norm", "silu", "linear"]
NORMS = ["norm", "norm without momentum", "frozen norm", "norm of two dimensions", "block"]


def draw_cases(rng):
    public = [
        case(rng, "one norm", "One call and its backward pass", "moved-twice", PLAIN),
        case(rng, "two calls", "Two calls before one backward pass", "later-updates", PLAIN, calls=2),
        case(rng, "calls without backward", "Calls that no backward pass follows", "idle-calls", PLAIN, idle=True),
        case(
            rng,
            "a block and a mean",
            "A norm inside a block, and one that averages all batches",
            "other-norms",
            ["block", "silu", "norm without momentum", "linear"],
        ),
        case(
            rng,
            "a frozen norm",
            "One norm is in evaluation mode",
            "settings",
            ["linear", "frozen norm", "silu", "norm"],
        ),
        measured(rng),
    ]
    hidden = [
        case(rng, "two dimensions", "A norm of two dimensions", "other-norms", ["norm of two dimensions", "linear"]),
        case(
            rng, "a norm used twice", "A norm that the stretch uses twice", "moved-twice", [*PLAIN, "again 1", "tanh"]
        ),
        case(
            rng,
            "no statistics",
            "A norm without statistics",
            "no-statistics",
            ["norm without statistics", "tanh", "norm"],
        ),
        case(rng, "no norm", "A stretch without a norm", "no-statistics", ["linear", "silu", "linear"]),
        case(rng, "evaluation", "The whole stretch is in evaluation mode", "settings", PLAIN, evaluates=True),
        case(
            rng,
            "statistics that change",
            "The statistics change between forward and backward",
            "later-updates",
            PLAIN,
            changes=True,
        ),
        case(rng, "dropout", "A dropout in the stretch", "dropout", ["linear", "norm", "dropout", "linear", "tanh"]),
        case(rng, "an input of no interest", "x needs no gradient", "no-gradient", PLAIN, wanted=False),
    ]
    for number in range(1, RANDOM_CASES + 1):
        layers = ["linear", rng.choice(NORMS), rng.choice(["silu", "tanh"]), rng.choice(NORMS), "linear", "tanh"]
        idea = f"Random stretch {number} of {RANDOM_CASES}"
        flags = {"calls": rng.randint(1, 2), "idle": rng.random() < 0.5}
        hidden.append(
            case(rng, f"random stretch {number}", idea, "larger", layers, width=2 * rng.randint(1, 3), **flags)
        )
    return [*public, *(found | {"public": False, "shown": ""} for found in hidden)]


def case(rng, name, idea, finding, layers, width=2, wanted=True, **flags):
    inputs = {"seed": rng.getrandbits(40), "layers": layers, "rows": rng.randint(4, 7), "width": width}
    inputs |= {"stretches": 1, "x wanted": wanted, "measured": False}
    inputs |= {"calls": 1, "idle": False, "changes": False, "evaluates": False} | flags
    lines = [f"stretch: {', '.join(layers)}; x of shape [{inputs['rows']}, {width}]"]
    if inputs["calls"] > 1:
        lines.append("y = run(stretch, x) + run(stretch, 0.5 * x)")
    if inputs["idle"]:
        lines.append("before it, run(stretch, x + 1) under no_grad, and run(stretch, 2 * x), whose result is dropped")
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": inputs,
        "shown": "\n".join(lines),
    }


def measured(rng):
    layers = [*PLAIN, "tanh"]
    idea = f"{STRETCHES} stretches, within the budget"
    found = case(rng, f"{STRETCHES} stretches", idea, "wrong-sum", layers, width=WIDTH)
    found["inputs"] |= {"rows": ROWS, "stretches": STRETCHES, "measured": True}
    found["shown"] = f"{STRETCHES} stretches: {', '.join(layers)}; x of shape [{ROWS}, {WIDTH}]"
    return found | {"peak": {"unit_bytes": 8 * ROWS * WIDTH, "most_units": MOST_UNITS}}


def diagnose(inputs, got, expected):
    """What is wrong first: the value, the first run's statistics, the gradients, the settings, or what is left."""
    right = {name: is_near(got[name], expected[name]) for name in got}
    if not right["output"]:
        return "forward"
    if inputs["measured"]:
        return None
    if not right["statistics after forward"]:
        frozen = is_near(got["statistics after forward"], got["statistics before"])
        return "frozen" if frozen else "first-run"
    if not right["gradients of the parameters"] or not right["gradient of x"]:
        return diagnose_gradients(inputs, got)
    if not right["settings are kept"]:
        return "settings"
    return "count" if right["statistics after backward"] and not right["batches counted"] else None


def diagnose_gradients(inputs, got):
    if not got["gradients of the parameters"].any():
        return "no-gradient"
    return "dropout" if "dropout" in inputs["layers"] else "gradient"


def is_near(got, right):
    if isinstance(right, (bool, list)):
        return got == right
    return bool(np.all(abs(got - right) <= NEAR * (1 + abs(right))))

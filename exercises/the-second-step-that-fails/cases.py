"""Descents of a few steps, replayed with every mistake that is known."""

import numpy as np

NEAR = 1e-7
APART = 1e-3
MISTAKES = (
    "callers-tensors",
    "left-over",
    "offset-not-cleared",
    "stale-at-start",
    "uphill",
    "offset-stays",
    "one-after-the-other",
)
OF_SEVERAL_STEPS = ("left-over", "offset-not-cleared")


def draw_cases(rng):
    cases = [
        draw_descent(rng, "four steps", "Four steps with three weights", 4),
        draw_descent(rng, "one step", "A single step", 1),
        draw_descent(rng, "called twice", "Two steps, and then two more in a second call", 2, calls=2),
        draw_descent(rng, "used before", ".grad holds numbers before the first step", 3, stale=True),
        draw_descent(rng, "no step", "0 steps: nothing moves, and the log is empty", 0),
        draw_descent(rng, "one weight", "A single weight", 4, features=1),
        draw_descent(rng, "as many readings as weights", "Four readings, four weights", 5, features=4, rows=4),
        draw_descent(rng, "many steps", "Thirty steps", 30, lr=0.05),
        draw_descent(rng, "a rate that is too large", "A rate with which the loss rises", 4, lr=1.1),
    ]
    for hidden in cases[3:]:
        hidden |= {"public": False, "shown": ""}
    return cases


def diagnose(inputs, got, expected):
    if not got["recording"]:
        return "recording-off"
    if near(got["moved"], expected["moved"]):
        return diagnose_the_rest(inputs, got, expected)
    mistakes = find_mistakes(inputs)
    return next((mistake for mistake in mistakes if near(got["moved"], replay(inputs, mistake)["moved"])), None)


def diagnose_the_rest(inputs, got, expected):
    if not got["trainable"]:
        return "left-frozen"
    if not near(got["gradient afterwards"], expected["gradient afterwards"]):
        return "not-usable"
    return "log-after" if near(got["log"], replay(inputs)["after"]) else "log-wrong"


def find_mistakes(inputs):
    """Those that this case can show."""
    if not inputs["steps"]:
        return []
    hidden = set() if inputs["stale"] else {"stale-at-start"}
    if inputs["steps"] == 1 and inputs["calls"] == 1 and not inputs["stale"]:
        hidden |= set(OF_SEVERAL_STEPS)
    return [mistake for mistake in MISTAKES if mistake not in hidden]


def near(got, wanted):
    return got.shape == wanted.shape and np.allclose(got, wanted, rtol=NEAR, atol=NEAR)


def draw_descent(rng, name, idea, steps, *, features=3, rows=6, lr=0.1, calls=1, stale=False):
    while True:
        numbers = np.random.default_rng(rng.getrandbits(64))
        inputs = {
            "readings": numbers.normal(size=(rows, features)),
            "targets": numbers.normal(size=rows) + 1.0,
            "start": numbers.normal(size=features + 1),
            "left_over": numbers.normal(size=features + 1),
            "lr": lr,
            "steps": steps,
            "calls": calls,
            "stale": stale,
        }
        truth, wrongs = replay(inputs), [replay(inputs, mistake) for mistake in find_mistakes(inputs)]
        steady = np.abs(truth["moved"]).max() < 200
        as_meant = lr < 1 or (np.diff(truth["log"]) > APART).all()
        if steady and as_meant and all(np.abs(wrong["moved"] - truth["moved"]).max() > APART for wrong in wrongs):
            break
    call = f"fit(weights, offset, readings, targets, lr={lr}, steps={steps})"
    return {
        "name": name,
        "idea": idea,
        "finding": "differs",
        "public": True,
        "inputs": inputs,
        "shown": "\n".join([call] * calls) + f"\n# {rows} readings of {features} load cells",
        "instead": {"wrong_shape": "log-wrong"},
    }


def replay(inputs, mistake=None):
    """Where the tensors end, the log, and the losses after each step, by the formulas of the gradients."""
    x, y = inputs["readings"], inputs["targets"]
    values = inputs["start"].copy()
    left = inputs["left_over"].copy() if inputs["stale"] else np.zeros(values.size)
    log, after = [], []
    for step in range(inputs["steps"] * inputs["calls"]):
        log.append(measure(x, y, values))
        left = differentiate(x, y, values) + left * keeps(mistake, step, values.size)
        move = take_step(mistake, x, y, values, inputs["lr"] * left)
        values = values + move
        after.append(measure(x, y, values))
    return {"moved": values, "log": np.array(log), "after": np.array(after)}


def keeps(mistake, step, size):
    """For each entry, whether the gradient from before the step stays in `.grad`."""
    kept = np.zeros(size)
    if mistake == "left-over" or (mistake == "stale-at-start" and step == 0):
        kept[:] = 1
    if mistake == "offset-not-cleared":
        kept[-1] = 1
    return kept


def take_step(mistake, x, y, values, step):
    move = {"uphill": step, "callers-tensors": 0 * step}.get(mistake, -step)
    if mistake == "offset-stays":
        move[-1] = 0
    if mistake == "one-after-the-other":
        at_new_weights = values + np.append(move[:-1], 0)
        scale = move[-1] / differentiate(x, y, values)[-1]
        move[-1] = scale * differentiate(x, y, at_new_weights)[-1]
    return move


def measure(x, y, values):
    return np.mean((x @ values[:-1] + values[-1] - y) ** 2)


def differentiate(x, y, values):
    error = x @ values[:-1] + values[-1] - y
    return 2 * np.append(x.T @ error, error.sum()) / len(y)

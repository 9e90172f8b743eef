"""Cases: the log's own data, other batches of different sizes, too few steps for every fault, and random runs."""

import numpy as np

HIDDEN_CASES = 4
CLEARED_EVERY, JOINS_AT = 3, 4
NEAR = 1e-7
AS_JUDGED = 1e-9
FIRST_X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
FIRST_Y = np.array([3.0, 1.0, 4.0, 5.0])


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    log = [(FIRST_X, FIRST_Y)] * 9
    cases = [
        case("the log", "The data of the log", "other-run", np.zeros(2), 0.0, log, 0.05, True),
        drawn(draw, "other batches", "Batches that differ, from other weights", "other-run", 2, [3] * 8, True),
        drawn(draw, "batches of different sizes", "The loss is a mean", "not-a-mean", 3, [1, 4, 2, 5, 3, 2, 1], True),
        drawn(draw, "two steps", "A run that ends before the second fault", "few-steps", 2, [2, 3], True),
        drawn(draw, "fourteen steps", "The faults go on", "goes-on", 2, [3] * 14, False),
    ]
    for number in range(1, HIDDEN_CASES + 1):
        sizes = [rng.randint(1, 5) for _ in range(rng.randint(5, 11))]
        idea = f"Random run {number} of {HIDDEN_CASES}"
        cases.append(drawn(draw, f"random run {number}", idea, "other-run", rng.randint(1, 4), sizes, False))
    return cases


def diagnose(inputs, got, expected):
    """Which other run the answer is, if it is one."""
    if got["changes the caller's"]:
        return "changes-inputs"
    if got["w"].shape != expected["w"].shape or got["b"].shape != expected["b"].shape:
        return None
    weights_right = all(is_near(got[name], expected[name], AS_JUDGED) for name in ("w", "b"))
    if weights_right:
        return "other-loss"
    if all(
        is_near(got[name], expected[name], AS_JUDGED) or is_last(got[name], expected[name]) for name in ("w", "b")
    ):
        return "last-weights"
    others = {
        "healthy": {"cleared_every": 1, "joins_at": 1},
        "never-cleared": {"cleared_every": 10**6},
        "clears-each-step": {"cleared_every": 1},
        "one-fault": {"joins_at": 1},
        "joins-empty": {"keeps": False},
    }
    for code, options in others.items():
        _, w, b = simulate(inputs, **options)
        if is_near(got["w"], w) and is_near(got["b"], b):
            return code
    right_b = simulate(inputs, joins_at=JOINS_AT - 1)[2], simulate(inputs, joins_at=JOINS_AT + 1)[2]
    return "joins-at-another-step" if any(is_near(got["b"], b) for b in right_b) else None


def simulate(inputs, cleared_every=CLEARED_EVERY, joins_at=JOINS_AT, keeps=True):
    """(losses, w, b) by step of a run with these faults; the lost program's by default."""
    w, b = inputs["w"].astype(float), float(inputs["b"])
    sum_w, sum_b, start, log = np.zeros_like(w), 0.0, 0, []
    for step, size in enumerate(inputs["sizes"], 1):
        x, y = inputs["x"][start : start + size], inputs["y"][start : start + size]
        start += size
        error = x @ w + b - y
        sum_w, sum_b = sum_w + 2 * error @ x / size, sum_b + 2 * error.sum() / size
        if step == joins_at and not keeps:
            sum_b = 2 * error.sum() / size
        w = w - inputs["rate"] * sum_w
        b = b - inputs["rate"] * sum_b * (step >= joins_at)
        log.append(((error**2).mean(), w, b))
        if step % cleared_every == 0:
            sum_w = np.zeros_like(w)
            sum_b = 0.0 if step >= joins_at else sum_b
    return tuple(np.array(column) for column in zip(*log, strict=True))


def is_last(got, right):
    """Whether each of several rows is the last one of the right answer."""
    return len(right) > 1 and is_near(got, np.broadcast_to(right[-1], right.shape))


def is_near(one, other, within=NEAR):
    return one.shape == other.shape and np.allclose(one, other, rtol=within, atol=within)


def drawn(draw, name, idea, finding, features, sizes, public):
    batches = [(np.round(draw.normal(size=(n, features)), 2), np.round(draw.normal(size=n), 2)) for n in sizes]
    w, b = np.round(draw.normal(size=features), 2), round(float(draw.normal()), 2)
    return case(name, idea, finding, w, b, batches, round(float(draw.uniform(0.01, 0.04)), 3), public)


def case(name, idea, finding, w, b, batches, rate, public):
    inputs = {
        "w": w,
        "b": b,
        "x": np.concatenate([x for x, _ in batches]),
        "y": np.concatenate([y for _, y in batches]),
        "sizes": [len(y) for _, y in batches],
        "rate": rate,
    }
    lines = [f"w = {w.tolist()}, b = {b}, rate = {rate}", *(f"x, y = {x.tolist()}, {y.tolist()}" for x, y in batches)]
    shown = "the data of the log" if name == "the log" else "\n".join(lines)
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": public,
        "inputs": inputs,
        "shown": shown if public else "",
    }

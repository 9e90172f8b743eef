"""Runs of a compressor. In each plain draw, every mistake of `MISTAKES` changes what is sent, and no choice is close.
No mistake of `MISTAKES` meets a tie, which two programs may break differently.

A choice is close if the last entry that is sent and the first that is not have nearly the same magnitude: rounding
would decide then. The prompt promises that no two entries tie, except zeros.
"""

import numpy as np

MISTAKES = (
    "no-feedback",
    "signed",
    "never-reset",
    "drops-the-old",
    "forgets-what-waited",
    "counted-twice",
    "wrong-sign",
    "smallest",
    "chosen-by-gradient",
    "sends-gradient",
    "one-too-many",
    "one-too-few",
    "clears-unsent",
)
NAMES = {
    "one-too-many": "wrong-count",
    "one-too-few": "wrong-count",
    "clears-unsent": "sends-gradient",
    "forgets-what-waited": "drops-the-old",
}
GAP = 1e-3
TIE = 1e-9
KEPT = "The caller keeps all results, and overwrites the gradients"
OVERWRITTEN = 17.0
FLAGS = {"reused": False, "spoiled": False, "kept": False, "transposed": False, "restart": None}


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    public = [
        case(draw, "a vector", "What is not sent is added to the next gradient", "differs", (6,), 2, 5),
        case(draw, "a matrix", "The k largest entries of all, not of each row", "per-row", (3, 4), 3, 4),
        steady(draw),
        simple(draw, "all of it", "k is at least the number of entries", "all-sent", (4,), 6, 3),
        simple(draw, "nothing", "k is 0: nothing is sent, now or later", "nothing-sent", (4,), 0, 3),
        pair(draw, "two compressors", (5,), 2),
        case(draw, "a restart", "A new compressor goes on from a saved state", "restart", (6,), 2, 6, restart=3),
        case(draw, "a reused buffer", "The caller overwrites the gradient", "reused-buffer", (5,), 1, 4, reused=True),
    ]
    corners = [
        case(draw, "a changed result", "The caller overwrites the result", "result-shared", (5,), 2, 4, spoiled=True),
        case(draw, "kept results", "All results are read at the end", "result-shared", (6,), 2, 4, kept=True),
        simple(draw, "all of it, kept", KEPT, "result-shared", (4,), 6, 3, reused=True, kept=True),
        case(draw, "a transposed gradient", "It is not contiguous", "transposed", (4, 3), 3, 4, transposed=True),
        case(draw, "a cube", "Three dimensions", "larger", (2, 3, 2), 4, 5),
        simple(draw, "one number", "Shape ()", "one-number", (), 1, 3),
        simple(draw, "no entries", "Shape (0, 3)", "no-entries", (0, 3), 2, 2),
        zeros(draw),
        simple(draw, "a fresh state", "A state from before the first call", "fresh-state", (4,), 1, 4, restart=0),
        case(draw, "a late restart", "The old one has gone on", "restart", (3, 3), 2, 8, restart=2),
        pair(draw, "two shapes", (2, 3), 2),
        case(draw, "a long run", "Twenty calls", "larger", (12,), 2, 20),
    ]
    for number in range(1, 4):
        shape = tuple(int(size) for size in draw.integers(2, 5, draw.integers(1, 4)))
        k = int(draw.integers(1, max(2, np.prod(shape) // 2)))
        idea = f"Random shape {number} of 3"
        corners.append(case(draw, f"random shape {number}", idea, "larger", shape, k, 6))
    return [*public, *(found | {"public": False, "shown": ""} for found in corners)]


def case(draw, name, idea, finding, shape, k, calls, **flags):
    """Draws until no choice is close and each mistake changes the answer."""
    while True:
        found = simple(draw, name, idea, finding, shape, k, calls, **flags)
        gradients = found["inputs"]["gradients"]
        truth, gap = replay(gradients, k)
        wrongs = [replay(gradients, k, mistake) for mistake in MISTAKES]
        if gap > GAP and all(clear > TIE and not is_near(truth, wrong) for wrong, clear in wrongs):
            return found


def simple(draw, name, idea, finding, shape, k, calls, **flags):
    while True:
        gradients = signed(draw, (calls, *shape))
        if replay(gradients, k)[1] > GAP:
            break
    return write(name, idea, finding, {"gradients": gradients, "k": k} | FLAGS | flags)


def steady(draw):
    """The same gradient in each call: a small entry waits for several calls."""
    while True:
        found = np.array([draw.uniform(5, 6), draw.uniform(-1.4, -1), draw.uniform(1.5, 2), draw.uniform(-3, -2.5)])
        gradients = np.tile(np.round(found, 3), (9, 1))
        truth, gap = replay(gradients, 1)
        if (
            gap > GAP
            and np.all(np.any(truth, axis=0))
            and not is_near(truth, replay(gradients, 1, "drops-the-old")[0])
        ):
            idea = "A small entry waits until it has grown"
            return write("an entry that waits", idea, "drops-the-old", {"gradients": gradients, "k": 1} | FLAGS)


def zeros(draw):
    """Fewer entries than k are not 0."""
    gradients = np.zeros((3, 6))
    gradients[:, 1], gradients[1, 4] = signed(draw, (3,)), 0.7
    return write("zeros", "Fewer than k entries are not 0", "zeros", {"gradients": gradients, "k": 4} | FLAGS)


def pair(draw, name, shape, k):
    first = case(draw, name, "Two compressors share nothing", "shared-state", shape, k, 4)
    second = case(draw, name, "", "shared-state", shape if name == "two compressors" else (5,), k, 4)
    inputs = first["inputs"] | {"second gradients": second["inputs"]["gradients"]}
    return write(name, first["idea"], "shared-state", inputs)


def signed(draw, shape):
    return np.asarray(np.round(draw.choice([-1.0, 1.0], shape) * draw.uniform(0.2, 3.0, shape), 3))


def write(name, idea, finding, inputs):
    lines = [f"compressor = TopK({inputs['k']})"]
    for gradient in inputs["gradients"]:
        lines.append(f"compressor.compress({np.array2string(gradient, separator=', ')})")
    if inputs["restart"]:
        lines.insert(inputs["restart"] + 1, "state = compressor.state_dict()")
        lines.append(
            f"# TopK({inputs['k']}) loads the state and gets the last gradients again; then another one does"
        )
    if "second gradients" in inputs:
        lines.append(f"# and in turn, with a second TopK({inputs['k']}):")
        lines += [f"second.compress({np.array2string(one, separator=', ')})" for one in inputs["second gradients"]]
    if inputs["reused"]:
        lines.append("# after each call, the caller overwrites the gradient")
    instead = {"wrong_shape": finding, "not_finite": finding}
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": inputs,
        "shown": "\n".join(lines),
        "instead": instead,
    }


def replay(gradients, k, mistake=None):
    """What is sent, call by call, and how close the closest choice is."""
    residual, sent, gap = np.zeros(gradients.shape[1:]), [], np.inf
    k = max(0, k + {"one-too-many": 1, "one-too-few": -1}.get(mistake, 0))
    for gradient in gradients:
        corrected = gradient if mistake == "no-feedback" else gradient + residual
        scores = {"signed": corrected, "smallest": -np.abs(corrected), "chosen-by-gradient": np.abs(gradient)}
        score = scores.get(mistake, np.abs(corrected)).reshape(-1)
        order = np.argsort(-score, kind="stable")
        if 0 < k < len(order) and score[order[k]] != 0:
            gap = min(gap, score[order[k - 1]] - score[order[k]])
        chosen = np.zeros(len(order), bool)
        chosen[order[:k]] = True
        of_gradient = mistake in ("sends-gradient", "clears-unsent")
        found = np.where(chosen.reshape(gradient.shape), gradient if of_gradient else corrected, 0.0)
        sent.append(found)
        left = np.where(chosen.reshape(gradient.shape), 0.0, corrected)
        residual = {
            "never-reset": corrected,
            "drops-the-old": gradient - found,
            "forgets-what-waited": np.where(chosen.reshape(gradient.shape), 0.0, gradient),
            "counted-twice": residual + left,
            "wrong-sign": -left,
            "sends-gradient": corrected - found,
        }.get(mistake, left)
    return np.array(sent), gap


def replay_rows(gradients, k):
    """With the k largest of each row."""
    shape = gradients.shape[1:]
    rows = [replay(gradients[:, row], k)[0] for row in range(shape[0])]
    return np.stack(rows, axis=1)


def diagnose(inputs, got, expected):
    """The mistake that gives exactly this answer, if there is one."""
    sent, gradients, k = got["sent"], inputs["gradients"], inputs["k"]
    if is_near(sent, expected["sent"]):
        return None
    if inputs["reused"] and inputs["kept"] and np.any(sent == OVERWRITTEN):
        return "gradient-returned"
    if "second gradients" in inputs or inputs["reused"] or inputs["spoiled"] or inputs["kept"]:
        return None  # the mistakes of one plain run have shown before
    for mistake in MISTAKES:
        if is_near(sent, replay(gradients, k, mistake)[0]):
            return NAMES.get(mistake, mistake)
    if gradients.ndim > 2 and is_near(sent, replay_rows(gradients, k)):
        return "per-row"
    return None


def is_near(got, wrong):
    return np.shape(got) == np.shape(wrong) and np.allclose(got, wrong, rtol=1e-8, atol=1e-8)

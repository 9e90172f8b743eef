"""Cases: tapes of small programs, from one record to random tapes on which every known mistake shows.

A program is a list of steps: ["leaf", value], ["+", i, j], ["*", i, j], ["tanh", i] or ["scale", i, constant], with
i and j the places of earlier steps. Its tape keeps names and local derivatives only.
"""

import math

ONE_CALL = ("no-seed", "forwards", "local-only", "overwrites", "too-early", "seeds-last")
MISTAKES = (*ONE_CALL, "remembers", "tape-changed")
RANDOM_TAPES = 4
NEAR = 1e-9
APART = 1e-3


def draw_cases(rng):
    a, b, c, d = (["leaf", draw_leaf(rng)] for _ in range(4))
    factor = round(rng.uniform(2.0, 4.0), 3)
    return [
        case(
            "one record", "The output's own gradient is 1, and one slope follows from it", "no-seed", [a, ["tanh", 0]]
        ),
        case(
            "a chain",
            "Slopes are multiplied along a path, from the output back",
            "forwards",
            [a, b, c, ["*", 0, 1], ["tanh", 3], ["*", 4, 2]],
        ),
        case("x * x", "Two uses in one record: both contribute", "overwrites", [a, ["*", 0, 0]]),
        case(
            "two paths",
            "Two paths that meet again: their contributions add up",
            "overwrites",
            [a, b, c, ["*", 0, 1], ["*", 0, 2], ["tanh", 3], ["*", 5, 4]],
        ),
        case(
            "a short and a long path",
            "A value passes its gradient on only when both paths have arrived",
            "too-early",
            [a, b, c, d, ["*", 0, 1], ["*", 4, 2], ["tanh", 5], ["*", 6, 3], ["+", 4, 7]],
        ),
        case(
            "a constant", "A constant is no value on the tape", "constants", [a, b, ["scale", 0, factor], ["*", 2, 1]]
        ),
        case(
            "an unused branch",
            "A value that the output does not depend on has the gradient 0",
            "missing",
            [a, b, c, ["*", 0, 1], ["tanh", 2], ["tanh", 3]],
        ),
        case(
            "not the last record",
            "The output is in the middle of the tape",
            "seeds-last",
            [a, b, ["*", 0, 1], ["tanh", 2], ["*", 3, 0]],
            outputs=[3],
        ),
        case(
            "two outputs",
            "One tape, asked twice: each call starts from nothing, and the tape is unchanged",
            "remembers",
            [a, b, ["*", 0, 1], ["tanh", 2], ["*", 3, 0]],
            outputs=[4, 3],
        ),
        case("12 doublings", "x doubled 12 times: the gradient is 2**12", "too-early", doubling(a, 12)),
        *(random_case(rng, place) for place in range(1, RANDOM_TAPES + 1)),
        case(
            "48 doublings",
            "x doubled 48 times: the work grows with the records, not with the paths",
            "too-early",
            doubling(a, 48),
            public=False,
        ),
    ]


def random_case(rng, place):
    idea = f"Random tape {place} of {RANDOM_TAPES}: shared values, mixed steps, new in every run"
    steps = draw_telling_program(rng)
    return case(f"random tape {place}", idea, "larger-tape", steps, outputs=[len(steps) - 2], public=False)


def diagnose(inputs, got, expected):
    """A changed tape, what is wrong with the entries, or else the mistake that gives exactly these gradients."""
    if not got["tape_as_it_was"]:
        return "tape-changed"
    if any(got["missing_entries"]) or any(got["extra_entries"]):
        return "missing" if any(got["missing_entries"]) else "constants"
    for mistake in MISTAKES:
        wrong = differentiate_all(inputs["tape"], inputs["outputs"], inputs["names"], mistake)
        if all(abs(g - w) <= NEAR * (1 + abs(w)) for g, w in zip(got["gradients"], wrong, strict=True)):
            return mistake
    return None


def case(name, idea, finding, steps, outputs=None, public=True):
    tape, names = write_tape(steps), names_of(steps)
    asked = [names[place] for place in (outputs or [len(steps) - 1])]
    told = {"graph": write_graph(steps)} if public and len(asked) == 1 else {}
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": public,
        "inputs": {"tape": tape, "outputs": asked, "names": names},
        "shown": write_call(tape, asked) if public else "",
        "slow": "once-per-path",
        "labels": {"gradients": {f"{name}, from {output}": [] for output in asked for name in names}},
        **told,
    }


def names_of(steps):
    """Leaves are a, b, c and d; results are h1, h2 and so on."""
    leaves, results, names = iter("abcd"), 0, []
    for operation, *_ in steps:
        if operation == "leaf":
            names.append(next(leaves))
        else:
            results += 1
            names.append(f"h{results}")
    return names


def write_tape(steps):
    """One record per result: its name, and a pair of operand and local derivative per use."""
    names, values = names_of(steps), evaluate(steps)
    tape = []
    for place, (operation, *args) in enumerate(steps):
        if operation == "+":
            uses = [(args[0], 1.0), (args[1], 1.0)]
        elif operation == "*":
            uses = [(args[0], values[args[1]]), (args[1], values[args[0]])]
        elif operation == "tanh":
            uses = [(args[0], 1.0 - values[place] ** 2)]
        elif operation == "scale":
            uses = [(args[0], args[1]), (None, values[args[0]])]
        else:
            continue
        tape.append([names[place], [[None if of is None else names[of], round(slope, 6)] for of, slope in uses]])
    return tape


def evaluate(steps):
    values = []
    for operation, *args in steps:
        if operation == "leaf":
            values.append(args[0])
        elif operation == "+":
            values.append(values[args[0]] + values[args[1]])
        elif operation == "*":
            values.append(values[args[0]] * values[args[1]])
        elif operation == "tanh":
            values.append(math.tanh(values[args[0]]))
        else:
            values.append(values[args[0]] * args[1])
    return values


def write_graph(steps):
    """The program as the graph that a verdict shows: the gradient of every value is asked."""
    nodes = []
    for place, (name, value) in enumerate(zip(names_of(steps), evaluate(steps), strict=True)):
        operation, *args = steps[place]
        node = {"name": name, "value": f"{value:.4g}", "answer": f"gradients[{place}]"}
        if operation == "scale":
            node |= {"op": f"* {args[1]}", "operands": args[:1]}
        elif operation != "leaf":
            node |= {"op": operation, "operands": args}
        nodes.append(node)
    return {"walk": "backward", "nodes": nodes}


def write_call(tape, outputs):
    """The calls as a learner would write them."""
    records = [f"    {(name, tuple(tuple(use) for use in uses))!r}," for name, uses in tape]
    return "\n".join(["tape = [", *records, "]", *(f"unwind(tape, {output!r})" for output in outputs)])


def draw_leaf(rng):
    """Away from 0 and 1, where different mistakes coincide."""
    return round(rng.choice([-1, 1]) * rng.choice([rng.uniform(0.3, 0.85), rng.uniform(1.15, 1.5)]), 4)


def doubling(leaf, times):
    return [leaf, *(["+", place, place] for place in range(times))]


def draw_program(rng, results):
    """Four leaves, results of random operands, sums of what nothing has used, and one step after the output."""
    steps = [["leaf", draw_leaf(rng)] for _ in range(4)]
    for _ in range(results):
        operation = rng.choice(["+", "*", "*", "tanh", "scale"])
        near = range(max(0, len(steps) - 6), len(steps))
        if operation in ("tanh", "scale"):
            more = [round(rng.uniform(-2.0, 2.0), 3)] if operation == "scale" else []
            steps.append([operation, rng.choice(near), *more])
        else:
            steps.append([operation, *rng.sample(near, 2)])
    used = {place for operation, *args in steps for place in places_of(operation, args)}
    loose = [place for place in range(len(steps)) if place not in used]
    while len(loose) > 1:
        steps.append(["+", loose.pop(0), loose.pop(0)])
        loose.append(len(steps) - 1)
    return [*steps, ["tanh", len(steps) - 2]]


def places_of(operation, args):
    """The places of the operands of a step: a leaf has none, and a constant is no place."""
    return {"leaf": [], "scale": args[:1]}.get(operation, args)


def draw_telling_program(rng):
    """A random program with leaf gradients of order one, and off under every mistake that one call can show."""
    while True:
        steps = draw_program(rng, 14)
        tape, names = write_tape(steps), names_of(steps)
        truth = differentiate(tape, names[-2])
        if not all(0.05 <= abs(truth[name]) <= 20 for name in names[:4]):
            continue
        wrongs = [differentiate(tape, names[-2], mistake) for mistake in ONE_CALL]
        if all(max(abs(truth[name] - wrong[name]) for name in names[:4]) > APART for wrong in wrongs):
            return steps


def differentiate_all(tape, outputs, names, mistake=None):
    """The gradients of all calls, one after the other, as `probe` lists them."""
    found, before = [], dict.fromkeys(names, 0.0)
    for call, output in enumerate(outputs):
        slip = "forwards" if mistake == "tape-changed" and call else mistake
        gradients = differentiate(tape, output, slip, before if mistake == "remembers" else None)
        before = gradients
        found += [gradients[name] for name in names]
    return found


def differentiate(tape, output, mistake=None, before=None):
    """The gradients of one call, as someone who makes `mistake` would find them."""
    gradients = dict.fromkeys([name for name, _ in tape], 0.0)
    gradients |= {of: 0.0 for _, uses in tape for of, _ in uses if of is not None}
    gradients |= before or {}
    start = tape[-1][0] if mistake == "seeds-last" else output
    gradients[start] = 0.0 if mistake == "no-seed" else 1.0
    for name, uses in in_order(tape, output, mistake):
        for of, slope in uses:
            if of is not None:
                part = slope if mistake == "local-only" else gradients[name] * slope
                gradients[of] = part if mistake == "overwrites" else gradients[of] + part
    return gradients


def in_order(tape, output, mistake):
    """The records in the order in which they pass their gradient on."""
    if mistake == "forwards":
        return tape
    if mistake != "too-early":
        return tape[::-1]
    records, queue = dict(tape), [output]
    for name in queue:
        queue += [of for of in dict.fromkeys(of for of, _ in records.get(name, ())) if of and of not in queue]
    return [(name, records.get(name, ())) for name in queue]

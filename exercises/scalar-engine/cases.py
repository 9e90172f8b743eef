"""Cases: graphs of scalars as lists of steps, from single rules to random graphs in which every known mistake shows.

A step is ["leaf", value], ["+", i, j], ["*", i, j] or ["tanh", i], with i and j the places of earlier steps.
"""

import math

BETWEEN_CALLS = ("resets", "resets-all", "counts-twice")
"""Mistakes that only a second backward shows."""
MISTAKES = (
    "no-seed",
    "wrong-vjp",
    "tanh-rule",
    "overwrites",
    "order",
    "order-of-leaves",
    "stops-early",
    *BETWEEN_CALLS,
)
RANDOM_GRAPHS = 6
NEAR = 1e-9
APART = 1e-3


def draw_cases(rng):
    a, b, c, d = (draw_leaf(rng) for _ in range(4))
    leaves = [["leaf", a], ["leaf", b], ["leaf", c], ["leaf", d]]
    gradients = [
        ("one sum", "A sum passes its gradient on to both operands", "add-rule", [*leaves[:2], ["+", 0, 1]]),
        ("one product", "A product passes on the other operand's value", "wrong-vjp", [*leaves[:2], ["*", 0, 1]]),
        ("one tanh", "tanh multiplies by 1 - tanh(x)**2", "tanh-rule", [leaves[0], ["tanh", 0]]),
        (
            "a chain",
            "Gradients travel through several steps: the chain rule",
            "chain",
            [*leaves[:3], ["*", 0, 1], ["tanh", 3], ["*", 4, 2], ["+", 5, 1]],
        ),
        ("x + x", "A value used twice in a sum gets both contributions", "used-twice", [leaves[0], ["+", 0, 0]]),
        ("x * x", "A value used twice in a product gets both contributions", "used-twice", [leaves[0], ["*", 0, 0]]),
        (
            "a diamond",
            "Two paths that meet again: their gradients add up",
            "used-twice",
            [*leaves[:3], ["*", 0, 1], ["*", 0, 2], ["tanh", 3], ["+", 5, 4]],
        ),
        (
            "an uneven diamond",
            "One path is longer than the other: a node waits for all that used it",
            "order",
            [*leaves, ["*", 0, 1], ["*", 4, 2], ["tanh", 5], ["*", 6, 3], ["+", 4, 7]],
        ),
        (
            "beside a large number",
            "The derivative is exact, even where a small step would vanish in the sum",
            "inexact",
            [*leaves[:2], ["leaf", float(rng.randint(10**9, 10**10))], ["tanh", 0], ["*", 3, 1], ["+", 4, 2]],
        ),
    ]
    idea = "Every result knows its operands and its operation"
    cases = [
        case("values", "+, * and tanh compute the right numbers", "forward", draw_graph(rng, 8), ask="values"),
        case("the graph", idea, "no-graph", draw_graph(rng, 5), ask="graph"),
    ]
    cases += [case(name, idea, finding, steps) for name, idea, finding, steps in gradients]
    twice = [*leaves[:2], ["*", 0, 1], ["tanh", 0]]
    cases += [
        case("two outputs", "Gradients of two outputs add up in a shared leaf", "two-calls", twice, outputs=[2, 3]),
        case("16 doublings", "x doubled 16 times: the gradient is 2**16", "order", doubling(a, 16)),
    ]
    equal = [["leaf", a], ["leaf", a], ["leaf", 0.0], ["*", 0, 1], ["*", 2, 1], ["tanh", 4], ["+", 3, 5], ["+", 6, 0]]
    idea = "Two leaves with the same number are two leaves; a third is 0"
    cases.append(case("equal numbers", idea, "equal-numbers", equal, public=False))
    idea = "backward() of a leaf adds 1 to what its gradient already is"
    cases.append(
        case(
            "a leaf after an output", idea, "leaf-backward", [*leaves[:2], ["*", 0, 1]], outputs=[2, 0], public=False
        )
    )
    for number in range(1, RANDOM_GRAPHS + 1):
        idea = f"Random graph {number} of {RANDOM_GRAPHS}: shared values, mixed steps, new in every run"
        cases.append(case(f"random graph {number}", idea, "larger-graph", draw_telling_graph(rng), public=False))
    idea = "x doubled 48 times: the work grows with the nodes, not with the paths"
    return [*cases, case("48 doublings", idea, "order", doubling(a, 48), public=False)]


def diagnose(inputs, got, expected):
    """The mistake that gives exactly these gradients, if there is one."""
    if inputs["ask"] != "gradients":
        return None
    numbers = [step[1] for step in inputs["steps"] if step[0] == "leaf"]
    if len(inputs["steps"]) == 1 or len(set(numbers)) < len(numbers):
        return None
    for mistake in MISTAKES:
        wrong = differentiate(inputs["steps"], inputs["outputs"], mistake)
        if all(abs(g - w) <= NEAR * (1 + abs(w)) for g, w in zip(got["gradients"], wrong, strict=True)):
            return mistake.removesuffix("-all").removesuffix("-of-leaves")
    return None


def case(name, idea, finding, steps, ask="gradients", outputs=None, public=True):
    outputs = [len(steps) - 1] if outputs is None else outputs
    told = {"graph": write_graph(steps, ask)} if public and ask != "graph" else {}
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": public,
        "inputs": {"steps": steps, "outputs": outputs, "ask": ask},
        "shown": write_program(steps, outputs if ask == "gradients" else []) if public else "",
        "slow": "order",
        **told,
        **({"labels": {ask: label(steps, ask)}} if ask != "graph" else {}),
    }


def label(steps, ask):
    """Every value, or the leaves, by the names of the program."""
    wanted = range(len(steps)) if ask == "values" else [n for n, step in enumerate(steps) if step[0] == "leaf"]
    return {f"v{place}.{'data' if ask == 'values' else 'grad'}": [] for place in wanted}


def write_graph(steps, ask):
    """The steps as the graph that a verdict shows: every value is asked, or the gradient of each leaf."""
    values = evaluate(steps)
    leaves = [place for place, step in enumerate(steps) if step[0] == "leaf"]
    nodes = []
    for place, (operation, *operands) in enumerate(steps):
        node = {"name": f"v{place}", "value": f"{values[place]:.4g}"}
        if operation != "leaf":
            node |= {"op": operation, "operands": operands}
        if ask == "values":
            node["answer"] = f"values[{place}]"
        elif operation == "leaf":
            node["answer"] = f"gradients[{leaves.index(place)}]"
        nodes.append(node)
    return {"walk": "forward" if ask == "values" else "backward", "nodes": nodes}


def draw_leaf(rng):
    """Away from 0 and 1, where rules coincide, and not so large that tanh goes flat."""
    return round(rng.choice([-1, 1]) * rng.choice([rng.uniform(0.3, 0.85), rng.uniform(1.15, 1.5)]), 4)


def doubling(value, times):
    return [["leaf", value], *(["+", place, place] for place in range(times))]


def draw_graph(rng, results):
    """Four leaves, then results of random operands; the last step adds up what nothing has used."""
    steps = [["leaf", draw_leaf(rng)] for _ in range(4)]
    for _ in range(results):
        operation = rng.choice(["+", "*", "*", "tanh"])
        places = rng.sample(range(max(0, len(steps) - 6), len(steps)), 1 if operation == "tanh" else 2)
        steps.append([operation, *places])
    used = {place for operation, *places in steps if operation != "leaf" for place in places}
    loose = [place for place in range(len(steps)) if place not in used]
    while len(loose) > 1:
        steps.append(["+", loose.pop(0), loose.pop(0)])
        loose.append(len(steps) - 1)
    return steps


def draw_telling_graph(rng):
    """A random graph whose gradients are of order one, and off under every mistake that one backward can show."""
    while True:
        steps = draw_graph(rng, 14)
        outputs = [len(steps) - 1]
        truth = differentiate(steps, outputs)
        if not all(0.05 <= abs(g) <= 20 for g in truth):
            continue
        wrongs = [differentiate(steps, outputs, mistake) for mistake in MISTAKES if mistake not in BETWEEN_CALLS]
        if all(max(abs(t - w) for t, w in zip(truth, wrong, strict=True)) > APART for wrong in wrongs):
            return steps


def differentiate(steps, outputs, mistake=None):
    """Gradients of the leaves after backward from each output in turn, as one who makes `mistake` would find them."""
    values = evaluate(steps)
    totals = [0.0] * len(steps)
    for output in outputs:
        if mistake in ("resets", "resets-all"):
            below = find_below(steps, output) if mistake == "resets" else range(len(steps))
            totals = [0.0 if place in below else total for place, total in enumerate(totals)]
        grads = [0.0] * len(steps)
        grads[output] = 0.0 if mistake == "no-seed" else 1.0
        reached = {}
        for place in walk(steps, output, mistake):
            if steps[place][0] == "leaf":
                reached[place] = grads[place]
            for operand, derivative in local_rules(steps, values, place, mistake):
                passed_on = derivative * grads[place]
                grads[operand] = passed_on if mistake == "overwrites" else grads[operand] + passed_on
        if mistake == "order-of-leaves":  # a leaf takes only what has arrived when the walk comes to it
            grads = [reached.get(place, 0.0) for place in range(len(steps))]
        before = 2 if mistake == "counts-twice" and output != outputs[0] else 1
        totals = [before * total + grad for total, grad in zip(totals, grads, strict=True)]
    return [total for total, step in zip(totals, steps, strict=True) if step[0] == "leaf"]


def find_below(steps, output):
    """The places from which the output was computed, and its own."""
    found = {output}
    for place in range(output, -1, -1):
        if place in found and steps[place][0] != "leaf":
            found |= set(steps[place][1:])
    return found


def evaluate(steps):
    values = []
    for operation, *args in steps:
        if operation == "leaf":
            values.append(args[0])
        elif operation == "+":
            values.append(values[args[0]] + values[args[1]])
        elif operation == "*":
            values.append(values[args[0]] * values[args[1]])
        else:
            values.append(math.tanh(values[args[0]]))
    return values


def walk(steps, output, mistake):
    """The places in the order in which they pass their gradient on."""
    if mistake == "stops-early":
        return [output]
    if mistake not in ("order", "order-of-leaves"):
        return range(output, -1, -1)
    queue = [output]
    for place in queue:
        operands = steps[place][1:] if steps[place][0] != "leaf" else []
        queue += [operand for operand in dict.fromkeys(operands) if operand not in queue]
    return queue


def local_rules(steps, values, place, mistake):
    """(operand, derivative) pairs of one step."""
    operation, *args = steps[place]
    if operation == "leaf":
        return []
    if operation == "+":
        return [(args[0], 1.0), (args[1], 1.0)]
    if operation == "*":
        left, right = args if mistake == "wrong-vjp" else reversed(args)
        return [(args[0], values[left]), (args[1], values[right])]
    source = values[args[0]] if mistake == "tanh-rule" else values[place]
    return [(args[0], 1.0 - source * source)]


def write_program(steps, outputs):
    """The steps as the program that a learner would write."""
    lines = []
    for place, (operation, *args) in enumerate(steps):
        if operation == "leaf":
            lines.append(f"v{place} = Value({args[0]})")
        elif operation == "tanh":
            lines.append(f"v{place} = v{args[0]}.tanh()")
        else:
            lines.append(f"v{place} = v{args[0]} {operation} v{args[1]}")
    return "\n".join([*lines, *(f"v{place}.backward()" for place in outputs)])

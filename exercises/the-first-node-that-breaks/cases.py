"""Cases: infinity, infinity that becomes NaN, NaN, clean graphs; then one trap each, and random chains."""

import numpy as np

RANDOM_CHAINS = 6
ENTRIES = 4
NONE, GONE, OF_ANOTHER_GRAPH = -1, -2, -3

SAFE = ["tanh", "sin", "softplus", "triple", "shift"]
SICK = [
    ["pin", "square", "sqrt"],
    ["pin", "square", "root or 0"],
    ["pin", "square", "fourth root"],
    ["pin", "abs", "log", "tanh"],
    ["pin", "reciprocal", "tanh"],
    ["pin", "first entry", "times 1e200", "times 1e200"],
    ["pin", "Spoil"],
]


def draw_cases(rng):
    draw = np.random.default_rng(rng.getrandbits(64))
    few = lambda count: rng.sample(SAFE[:3], 1) + [rng.choice(SAFE) for _ in range(count)]  # noqa: E731
    end = lambda: [rng.choice(SAFE[:2]), "sum"]  # noqa: E731
    late = ["pin", "square", "sqrt"]
    cases = [
        case(draw, "infinity", "A gradient becomes infinite", "wrong-node", ["sqrt", *end()], zero=True),
        case(
            draw,
            "infinity, then NaN",
            "The node that makes infinity, and not the one that makes NaN of it",
            "inf-before-nan",
            [*few(1), *late, *end()],
        ),
        case(
            draw,
            "NaN",
            "The node that makes NaN, and not one that passes it on",
            "passes-it-on",
            [*few(2), "pin", "square", "root or 0", *end()],
        ),
        case(draw, "nothing breaks", "All gradients are finite", "false-alarm", [*few(3), *end()]),
        case(
            draw,
            "an infinite loss",
            "The loss is infinite, and all gradients are finite",
            "false-alarm",
            [*lines([*few(1), "sum"], "s"), ["z", "log of zeros", "s"], ["loss", "add", "s", "z"]],
        ),
        hide(
            case(
                draw, "infinity alone", "Infinity reaches the leaf", "wrong-node", ["fourth root", *end()], zero=True
            )
        ),
        hide(two_branches(draw, few, ["sqrt", "root or 0"], "the root of the earlier branch")),
        hide(two_branches(draw, few, ["root or 0", "sqrt"], "NaN in one branch and infinity in the other")),
        hide(
            case(
                draw,
                "a custom Function",
                "The backward of a custom Function makes infinity",
                "custom-function",
                [*few(1), "pin", "Spoil", *end()],
            )
        ),
        hide(
            case(
                draw,
                "a break under an infinite loss",
                "The loss is infinite, and a node breaks",
                "trusts-the-loss",
                [*lines([*few(1), *late, "sum"], "s"), ["z", "log of zeros", "s"], ["loss", "add", "s", "z"]],
            )
        ),
        hide(one_of_two(draw)),
        hide(
            case(
                draw,
                "used twice",
                "A tensor is used twice, one leaf needs no gradient, and .grad holds something",
                "wrong-node",
                [
                    ["m", "multiply", "x", "w"],
                    *lines(["sin", "pin", "square", "sqrt"], "r", "m"),
                    ["a", "add", "r", "m"],
                    ["loss", "sum", "a"],
                ],
                frozen=["w"],
                has_grad=True,
            )
        ),
    ]
    cases[3]["inputs"]["has_grad"] = True
    for number in range(1, RANDOM_CHAINS + 1):
        idea = f"Random chain {number} of {RANDOM_CHAINS}, new in every run"
        chain = [*few(rng.randint(1, 5)), *rng.choice(SICK), *few(rng.randint(0, 4)), "sum"]
        cases.append(hide(case(draw, f"random chain {number}", idea, "larger", chain)))
    return cases


def two_branches(draw, few, roots, what):
    program = []
    for name, root in zip("ab", roots, strict=True):
        program += lines([*few(1), "pin", "square", root, "sin"], name)
    program += [["both", "add", "a", "b"], ["loss", "sum", "both"]]
    idea = f"Two nodes break, in branches of their own: {what}"
    return case(draw, f"two branches, {roots[0]} first", idea, "order", program)


def one_of_two(draw):
    """The product sends a finite gradient to its first input, and an infinite one to its second."""
    program = [["p", "multiply", "w", "x"], ["t", "multiply", "p", "p"], ["loss", "sum", "p"]]
    drawn = case(
        draw, "one of two inputs", "Only the second gradient that a node sends is bad", "every-input", program
    )
    drawn["inputs"]["w"][1] = np.inf
    return drawn


def lines(chain, last="loss", first="x"):
    """The chain as a program whose last line gives `last`."""
    names = [first, *(f"{last}{number}" for number in range(1, len(chain))), last]
    return [[names[at + 1], operation, names[at]] for at, operation in enumerate(chain)]


def case(draw, name, idea, finding, program, zero=False, frozen=(), has_grad=False):
    program = lines(program) if isinstance(program[0], str) else program
    x, w = (np.round(draw.uniform(0.3, 1.5, ENTRIES), 3) for _ in "xw")
    if zero:
        x[0] = 0.0
    text = "\n".join(f"{result} = {operation}({', '.join(operands)})" for result, operation, *operands in program)
    given = f"x = {x.tolist()}  # requires a gradient"
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": {"program": program, "x": x, "w": w, "frozen": list(frozen), "has_grad": has_grad},
        "shown": f"{given}\n{text}\nfirst_bad_node(loss)  # pin(v) is v with 0 in the place of v[0]",
    }


def hide(drawn):
    return drawn | {"public": False, "shown": ""}


def diagnose(inputs, got, expected):
    """What the two answers and what was left behind say of the search."""
    first, second = got["node"], got["node in a second call"]
    wanted = expected["node"]
    if first == wanted and second == GONE:
        return "frees-the-graph"
    if first == wanted and second != wanted:
        return "second-call"
    if first == wanted and got["a later backward calls your code"]:
        return "hooks-left"
    if first == wanted:
        return "grad-changed" if not got[".grad is as before"] else "anomaly-left-on"
    if first == OF_ANOTHER_GRAPH:
        return "second-call"
    if first == NONE:
        return diagnose_none(inputs)
    return "false-alarm" if wanted == NONE else None


def diagnose_none(inputs):
    """Why a node that breaks may have been missed: by what makes this graph special."""
    if np.isinf(inputs["w"]).any():
        return "every-input"
    special = {"Spoil": "custom-function", "log of zeros": "trusts-the-loss", "root or 0": "misses-nan"}
    operations = [operation for _, operation, *_ in inputs["program"]]
    return next((finding for operation, finding in special.items() if operation in operations), "misses-inf")

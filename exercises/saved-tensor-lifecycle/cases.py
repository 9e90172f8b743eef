"""Cases: short programs on nodes, from one call to random ones; the probe's first lines say what a step is."""

LARGE = 60_000
ZEROS = (6, 7)
"""The rows of zeros, and of numbers whose exponential is zero."""
RANDOM_PROGRAMS = 4
MANY = 64
MANY_LENGTH = 250_000


def draw_cases(rng):
    """One idea after the other; the first that fails names the fault."""
    numbers = [*(draw_row(rng) for _ in range(6)), [0.0, 0.0, 0.0], [-800.0, -900.0, -1000.0]]
    exp, mul, add = (["forward", "one", "Exp", 0], ["forward", "two", "Mul", 0, 1], ["forward", "three", "Add", 0, 1])
    walk = [[["backward", name, 2, False]] for name in ("one", "two", "three")]
    keep = [[["backward", name, 2, True]] for name in ("one", "two", "three")]
    again = [[["backward", name, 3, False]] for name in ("one", "two", "three")]
    late = [[["backward", name, 4, False]] for name in ("one", "two", "three")]
    held = [["held"]]
    plans = [
        ("forwards", "The three forwards compute the right numbers", "forward", [exp, mul, add], 3),
        (
            "first walks",
            "The first backward of each kind",
            "wrong-vjp",
            [exp, *walk[0], mul, *walk[1], add, *walk[2]],
            3,
        ),
        (
            "two nodes of a kind",
            "Each node has saved its own array",
            "shared-between-nodes",
            [
                *[["forward", "one", "Exp", 0], ["forward", "other", "Exp", 1]],
                *[["forward", "two", "Mul", 0, 1], ["forward", "fourth", "Mul", 2, 3]],
                *[["backward", name, 2, False] for name in ("one", "other", "two", "fourth")],
            ],
            3,
        ),
        (
            "what is held",
            "After forward: Exp one, Mul two, Add none",
            "saves-too-much",
            [exp, *held, mul, *held, add, *held],
            LARGE,
        ),
        ("let go", "After a backward, an Exp holds nothing", "leak", [exp, *walk[0], *held], LARGE),
        ("both let go", "After a backward, a Mul holds nothing", "leak", [mul, *walk[1], *held], LARGE),
        (
            "a second walk",
            "A walk that comes too late raises RuntimeError",
            "silent-second",
            [exp, *walk[0], *again[0]],
            3,
        ),
        ("nothing to miss", "An Add may be walked again", "nothing-to-free", [add, *walk[2], *again[2], *late[2]], 3),
        (
            "retained",
            "retain=True keeps what was saved",
            "retain-ignored",
            [exp, *keep[0], *again[0], mul, *keep[1], *again[1]],
            3,
        ),
        (
            "retained once",
            "retain counts for one call: the next one frees",
            "retain-sticks",
            [mul, *keep[1], *held, *again[1], *held, *late[1]],
            LARGE,
        ),
        (
            "dropped",
            "A node that is dropped takes its arrays along",
            "held-elsewhere",
            [exp, ["drop", "one"], *held],
            LARGE,
        ),
    ]
    cases = [case(numbers, *plan) for plan in plans]
    cases += [case(numbers, *plan, public=False, **more) for *plan, more in plan_corners()]
    for number in range(1, RANDOM_PROGRAMS + 1):
        idea = f"Random program {number} of {RANDOM_PROGRAMS}: several nodes, walked and retained in turn"
        cases.append(
            case(numbers, f"random program {number}", idea, "longer-program", draw_program(rng), LARGE, public=False)
        )
    idea = f"{MANY} nodes stay alive, each walked once: what they saved must be gone"
    inputs = {"ask": "many", "nodes": MANY, "length": MANY_LENGTH, "numbers": numbers, "steps": []}
    return [*cases, {"name": "many nodes", "idea": idea, "finding": "leak", "public": False, "inputs": inputs}]


def plan_corners():
    """What random programs show rarely, or never."""
    exp, mul, add = (["forward", "one", "Exp", 0], ["forward", "two", "Mul", 0, 1], ["forward", "three", "Add", 0, 1])
    nodes = [exp, mul, add]
    walks = [[["backward", name, 2, retain] for name in ("one", "two", "three")] for retain in (True, False)]
    zeros = [["forward", "one", "Exp", 7], ["forward", "two", "Mul", 6, 7], ["forward", "three", "Mul", 1, 6]]
    upstream = [["backward", name, 6, False] for name in ("one", "two", "three")]
    shapes = {"a table": [2, 3], "one number": [], "no number": [0], "one by one": [1, 1]}
    large, late = [*walks[0][:2], ["held"]], [["backward", name, 3, False] for name in ("one", "two")]
    twice = [*walks[0], *walks[1]]
    again = [exp, mul, *large, *large, *walks[1][:2], ["held"], *late]
    plans = [
        ("the caller's arrays", "Operands and results stay as they are", "writes-into-inputs", [*nodes, *twice], 3),
        ("zeros", "A saved zero is not a freed array", "zero-is-not-freed", [*zeros, *twice, *late], 3),
        ("zeros from above", "An upstream of zeros", "zero-is-not-freed", [*zeros, *upstream, *late], 3),
        ("retained twice", "A retained walk keeps what was saved, and no more", "retain-ignored", again, LARGE),
    ]
    yield from ((*plan, {}) for plan in plans)
    for name, shape in shapes.items():
        yield name, f"Arrays of shape {tuple(shape)}", "wrong-vjp", [*nodes, *twice], 3, {"shape": shape}


def diagnose(inputs, got, expected):
    """What the first call that ended differently, or the first count that is off, says of the node."""
    if inputs["ask"] == "many":
        return None
    if not got["arrays of the caller unchanged"]:
        return "writes-into-inputs"
    counts = diagnose_counts(inputs["steps"], got, expected)
    if counts == "retain-sticks":  # a late call that is answered follows from it
        return counts
    return diagnose_calls(inputs["steps"], got, expected) or counts


def diagnose_counts(steps, got, expected):
    """What the first wrong count of arrays says, by the walks before it."""
    at = [place for place, step in enumerate(steps) if step[0] == "held"]
    counts = zip(at, got["arrays held"], expected["arrays held"], strict=False)
    place, ours, wanted = next(((p, o, w) for p, o, w in counts if o != w), (0, 0, 0))
    before = steps[:place]
    if ours <= wanted or any(step[0] == "drop" for step in before):
        return None
    walks = [step for step in before if step[0] == "backward"]
    if not walks or walks[-1][3]:
        return "saves-too-much"
    name = walks[-1][1]
    return "retain-sticks" if any(step[1] == name and step[3] for step in walks[:-1]) else "leak"


def diagnose_calls(steps, got, expected):
    kinds = {step[1]: step[2] for step in steps if step[0] == "forward"}
    calls = [step for step in steps if step[0] == "backward"]
    words = zip(calls, got["calls"].split(), expected["calls"].split(), strict=True)
    for place, (step, ours, wanted) in enumerate(words):
        if ours == wanted:
            continue
        if wanted == "RuntimeError":
            return "silent-second" if ours in ("answered", "None") else "accidental-error"
        if kinds[step[1]] == "Add":
            return "nothing-to-free"
        first = not any(kinds[earlier[1]] == kinds[step[1]] for earlier in calls[:place])
        if first and ours != "None" and not uses_zeros(steps):
            return "refuses-at-once"
        was_retained = any(earlier[1] == step[1] and earlier[3] for earlier in calls[:place])
        return "retain-ignored" if was_retained and ours != "None" else None
    return None


def uses_zeros(steps):
    return any(place in ZEROS for step in steps for place in places_of(step))


def case(numbers, name, idea, finding, steps, length, public=True, shape=None):
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": public,
        "inputs": {
            "ask": "program",
            "steps": steps,
            "numbers": numbers,
            "shape": [length] if shape is None else shape,
        },
        "shown": write_program(steps, numbers, length) if public else "",
    }


def draw_row(rng):
    return [round(rng.choice([-1, 1]) * rng.uniform(0.3, 1.2), 3) for _ in range(3)]


def draw_program(rng):
    """Four nodes, walked in turn; at least one is walked too late, one is retained, one is never walked."""
    kinds = ["Exp", "Mul", "Add", rng.choice(["Exp", "Mul"])]
    names = rng.sample("abcd", 4)
    steps = []
    for name, kind in zip(names, kinds, strict=True):
        steps.append(["forward", name, kind, *rng.sample(range(6), 1 if kind == "Exp" else 2)])
    walks = [
        [names[0], True],
        [names[0], False],
        [names[0], False],
        [names[1], rng.random() < 0.5],
        [names[1], False],
    ]
    walks += [[names[2], False], [names[2], rng.random() < 0.5]]
    order = [walk[0] for walk in walks]
    rng.shuffle(order)
    queues = {name: [retain for owner, retain in walks if owner == name] for name in set(order)}
    for name in order:
        steps.append(["backward", name, rng.randrange(6), queues[name].pop(0)])
        if rng.random() < 0.4:
            steps.append(["held"])
    return [*steps, ["drop", names[3]], ["held"]]


def write_program(steps, numbers, length):
    """The steps as the program that a learner would write."""
    lines = [f"# every row is repeated to {length} numbers"] if length > 3 else []
    used = {place for step in steps for place in places_of(step)}
    lines += [f"r{place} = np.array({numbers[place]})" for place in sorted(used)]
    for step, *what in steps:
        if step == "forward":
            name, kind, *places = what
            lines.append(f"{name} = {kind}(); {name}.forward({', '.join(f'r{place}' for place in places)})")
        elif step == "backward":
            lines.append(f"{what[0]}.backward(r{what[1]}{', retain=True' if what[2] else ''})")
        else:
            lines.append(f"del {what[0]}" if step == "drop" else "# how many arrays are held now?")
    return "\n".join(lines)


def places_of(step):
    if step[0] == "forward":
        return step[3:]
    return [step[2]] if step[0] == "backward" else []

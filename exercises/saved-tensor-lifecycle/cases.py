"""Cases: short programs on nodes, from one call to random ones; the probe's first lines say what a step is."""

LARGE = 60_000
RANDOM_PROGRAMS = 4
MANY = 64
MANY_LENGTH = 250_000


def draw_cases(rng):
    """One idea after the other; the first that fails names the fault."""
    numbers = [draw_row(rng) for _ in range(6)]
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
            [["forward", "one", "Exp", 0], ["forward", "other", "Exp", 1], *walk[0], ["backward", "other", 3, False]],
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
    for number in range(1, RANDOM_PROGRAMS + 1):
        idea = f"Random program {number} of {RANDOM_PROGRAMS}: several nodes, walked and retained in turn"
        cases.append(
            case(numbers, f"random program {number}", idea, "longer-program", draw_program(rng), LARGE, public=False)
        )
    idea = f"{MANY} nodes stay alive, each walked once: what they saved must be gone"
    inputs = {"ask": "many", "nodes": MANY, "length": MANY_LENGTH, "numbers": numbers, "steps": []}
    return [*cases, {"name": "many nodes", "idea": idea, "finding": "leak", "public": False, "inputs": inputs}]


def diagnose(inputs, got, expected):
    """What the first call that ended otherwise, or the first count that is off, says of the node."""
    if inputs["ask"] == "many":
        return None
    if not got["arrays of the caller unchanged"]:
        return "writes-into-inputs"
    kinds = {step[1]: step[2] for step in inputs["steps"] if step[0] == "forward"}
    calls = [step for step in inputs["steps"] if step[0] == "backward"]
    words = zip(calls, got["calls"].split(), expected["calls"].split(), strict=True)
    for place, (step, ours, wanted) in enumerate(words):
        if ours != wanted and wanted == "RuntimeError":
            return {"answered": None, "None": "silent-second"}.get(ours, "accidental-error")
        if ours != wanted and kinds[step[1]] == "Add":
            return "nothing-to-free"
        if ours != wanted and ours != "None":
            was_retained = any(earlier[1] == step[1] and earlier[3] for earlier in calls[:place])
            return "retain-ignored" if was_retained else None
    return None


def case(numbers, name, idea, finding, steps, length, public=True):
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": public,
        "inputs": {"ask": "program", "steps": steps, "numbers": numbers, "length": length},
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

"""Training runs of both kinds. In either kind, a run's own records may grow, shrink or stay the same."""

from functools import partial

LENGTHS = {
    "growing": (2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 8),
    "constant": (3,) * 12,
    "shrinking": (8, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2),
}
ALWAYS = [1, 0]  # every step: its number modulo 1 is 0
NEVER = [1, 1]


def draw_cases(rng):
    return [
        case(rng, "six runs", "Three runs of each kind", SHOWN, public=True),
        case(rng, "eight runs", "Eight fresh runs, of the kinds that you have seen and of others", HIDDEN_PLAIN),
        case(rng, "eleven rare runs", "Eleven runs in which something happens now and then, or once", HIDDEN_RARE),
    ]


def case(rng, name, idea, makers, *, public=False):
    programs = rng.sample([make(rng) for make in makers], len(makers))
    shown = "\n\n".join(f"# run {number}\n{write_program(program)}" for number, program in enumerate(programs, 1))
    return {
        "name": name,
        "idea": idea,
        "finding": "wrong-verdict",
        "public": public,
        "inputs": {"runs": len(programs)},
        "host": programs,
        "shown": shown if public else "",
    }


def program(rng, kind, lengths=None, *, carries="nothing", window=NEVER, terms=(), slower_every=0, **others):
    """`kind` is for `diagnose` alone. A period has at most five steps, so that five in a row contain every phase."""
    own = LENGTHS[lengths or rng.choice(sorted(LENGTHS))]
    return {
        "kind": kind,
        "seed": rng.getrandbits(48),
        "hidden": rng.randint(2, 5),
        "retain": True,
        "log": False,
        "lengths": list(own),
        "carries": carries,
        "window": list(window),
        "terms": [list(term) for term in terms],
        "slower_every": slower_every,
    } | others


def period(rng):
    steps = rng.randint(2, 5)
    return [steps, rng.randrange(steps)]


def longer_records(rng):
    return program(rng, "longer-records", "growing", retain=False)


def carries_values(rng):
    return program(rng, "values", "growing", carries="values", retain=rng.choice([True, False]))


def more_iterations(rng, every=1):
    return program(rng, "slower", "constant", slower_every=every, retain=False)


def term_from_the_second_step(rng):
    return program(rng, "late-term", "growing", terms=[("smoothness", False, *ALWAYS)])


def distance_to_values(rng):
    return program(rng, "late-term", "constant", terms=[("distance", False, *ALWAYS)])


def term_now_and_then(rng):
    return program(rng, "term", terms=[("weights", False, *period(rng))])


def term_without_saved_tensors(rng):
    # Not in the first step, and with more nodes than a reached step of two readings would add.
    return program(rng, "term", terms=[("total", False, 4, rng.choice([0, 2, 3]))], retain=False, hidden=5)


def keeps_losses(rng):
    return program(rng, "log", carries="values", log=True)


def keeps_state(rng):
    return program(rng, "chain", "growing", carries="history")


def shrinking_chain(rng):
    return program(rng, "chain", "shrinking", carries="history")


def keeps_an_average(rng):
    return program(rng, "chain", carries="values", terms=[("energy", True, *ALWAYS)])


def window(rng):
    return program(rng, "now-and-then", "growing", carries="history", window=[4, rng.choice([0, 1, 3])])


def one_step_back(rng, lengths=None):
    return program(rng, "one-step", lengths, carries="values", terms=[("smoothness", True, *ALWAYS)])


def one_step_back_every_fifth(rng, phase):
    return program(rng, "now-and-then", terms=[("smoothness", True, 5, phase)])


def back_to_the_first(rng):
    # Not in the second step, in which the first record is also the one right before.
    return program(rng, "first", carries="values", terms=[("distance", True, 4, 0)])


SHOWN = [
    longer_records,
    more_iterations,
    term_from_the_second_step,
    keeps_state,
    partial(one_step_back, lengths="growing"),
    window,
]
HIDDEN_PLAIN = [
    longer_records,
    carries_values,
    partial(more_iterations, every=2),
    term_from_the_second_step,
    keeps_losses,
    shrinking_chain,
    keeps_an_average,
    one_step_back,
]
HIDDEN_RARE = [
    distance_to_values,
    term_now_and_then,
    term_without_saved_tensors,
    more_iterations,
    window,
    back_to_the_first,
    # One for each phase, so that a check that leaves out a step always misses one.
    *(partial(one_step_back_every_fifth, phase=phase) for phase in range(5)),
]
MISSED = {
    "chain": "misses-the-chain",
    "one-step": "misses-one-step",
    "first": "misses-the-first",
    "now-and-then": "misses-now-and-then",
}
"""The kinds of run that reach back, with the finding for a check that misses them."""
ALARMED = {
    "longer-records": "alarms-on-longer-records",
    "values": "alarms-on-values",
    "log": "alarms-on-a-log",
    "slower": "alarms-on-iterations",
    "late-term": "alarms-on-a-late-term",
    "term": "alarms-on-a-term",
}


def diagnose(inputs, got, expected):
    """What the check is wrong about: missed runs are named before false alarms, the commonest kind of run first."""
    wrong = [
        p["kind"]
        for p, g, e in zip(inputs["host"], got["reaches back"], expected["reaches back"], strict=True)
        if g != e
    ]
    if len(wrong) == len(inputs["host"]):
        return "exchanged"
    found = [finding for kind, finding in (MISSED | ALARMED).items() if kind in wrong]
    return found[0] if found else None


def write_program(program):
    """The run as its author would write it."""
    lines = [f"def step(t, record):  # own lengths: {', '.join(map(str, program['lengths']))}", *write_state(program)]
    times = f"1 + (t - 1) // {program['slower_every']}" if program["slower_every"] else ""
    lines.append("for reading in record @ reading_weight:")
    if times:
        lines += [f"    for _ in range({times}):", "        state = torch.tanh(reading + mixing @ state)"]
    else:
        lines.append("    state = torch.tanh(reading + mixing @ state)")
    lines.append("loss = (state @ output - target).square()")
    for term in program["terms"]:
        lines += write_term(*term)
    lines.append(f"loss.backward({'retain_graph=True' if program['retain'] else ''})")
    lines += ["log.append(loss)"] if program["log"] else []
    return "\n".join([lines[0], *(f"    {line}" for line in lines[1:])])


def write_state(program):
    if program["carries"] == "nothing":
        return ["state = torch.zeros(hidden)"]
    if program["carries"] == "values":
        return ["state = last_state.detach()"]
    when = write_when(*program["window"])
    return ["state = last_state", *([f"{when}state = state.detach()"] if when else [])]


def write_when(steps, phase):
    return f"if t % {steps} == {phase}: " if steps > 1 else ""


def write_term(name, keeps, steps, phase):
    end = "" if keeps else ".detach()"
    value = {
        "smoothness": f"(state - last_state{end}).square().mean()",
        "distance": f"(state - first_state{end}).square().mean()",
        "energy": "average",
        "weights": "mixing.square().sum()",
        "total": "sum(state[place].sum() for place in range(hidden))",
    }[name]
    when = write_when(steps, phase) or ("if t > 1: " if name in ("smoothness", "distance") else "")
    first = [f"average = 0.5 * average{end} + state.square().mean()"] if name == "energy" else []
    return [*first, f"{when}loss = loss + 0.1 * {value}"]

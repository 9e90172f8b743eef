"""Training runs, replayed with every mistake that is known; and programs for the learner's own check."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

NEAR = 1e-8
APART = 1e-4
MISTAKES = ("still-accumulating", "no-update", "once-an-epoch", "some-cleared", "stale-at-start", "fresh-optimizer")
CLEARED_BEFORE = {None: (1, 2), "fresh-optimizer": (1, 2), "some-cleared": (2,)}
"""The ranks of the parameters whose gradients are cleared before a backward: of none, where a mistake is not here."""
ALWAYS = [1]


def draw_cases(rng):
    return [
        run_case(rng, "four steps", "Two batches, two epochs", batches=2, epochs=2),
        run_case(
            rng, "a short training", "Four batches, three epochs, with momentum", batches=4, epochs=3, momentum=0.6
        ),
        run_case(
            rng,
            "used before",
            "The model has been used before: its gradients are not empty when training begins",
            batches=3,
            left_over=True,
        ),
        check_case(
            "six programs",
            "Your check, on three healthy runs and three sick ones",
            shuffled(rng, [draw(rng) for draw in SHOWN]),
            public=True,
        ),
        run_case(
            rng, "a longer training", "Six batches, four epochs", batches=6, epochs=4, momentum=0.3, public=False
        ),
        run_case(
            rng,
            "another rate",
            "A rate four times as large, and a wider model",
            batches=5,
            lr=0.08,
            hidden=9,
            public=False,
        ),
        check_case(
            "seventeen programs",
            "Your check, on seventeen fresh runs in secret order: every sick one is found, no healthy one is accused",
            shuffled(rng, [draw(rng) for draw in HEALTHY + SICK]),
            public=False,
        ),
    ]


def diagnose(inputs, got, expected):
    if "programs" in inputs:
        return diagnose_check(inputs["host"], got["wrong"], expected["wrong"])
    for mistake in MISTAKES:
        wrong = replay(inputs, mistake)
        if wrong is not None and np.allclose(got["parameters"], wrong, rtol=NEAR, atol=NEAR):
            return mistake
    return None


def run_case(rng, name, idea, *, batches, epochs=1, momentum=0.0, lr=0.02, hidden=5, left_over=False, public=True):
    """A run in which every known mistake shows."""
    while True:
        inputs = draw_run(rng, batches=batches, hidden=hidden, left_over=left_over)
        inputs |= {"lr": lr, "momentum": momentum, "epochs": epochs, "hidden": hidden}
        truth = replay(inputs)
        wrongs = [wrong for mistake in MISTAKES if (wrong := replay(inputs, mistake)) is not None]
        if all(np.abs(wrong - truth).max() > APART for wrong in wrongs):
            break
    head = f"train(model, batches, lr={lr}, momentum={momentum}, epochs={epochs})"
    shown = f"{head}\n{batches} batches of 6 rows, 4 sensors, {hidden} hidden units"
    shown += "\nevery .grad of the model holds numbers already" if left_over else ""
    parameters = {"0.weight": [hidden, 4], "0.bias": [hidden], "2.weight": [1, hidden], "2.bias": [1]}
    return case(name, idea, "differs", public, inputs, shown) | {"labels": {"parameters": parameters}}


def case(name, idea, finding, public, inputs, shown):
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": public,
        "inputs": inputs,
        "shown": shown if public else "",
    }


def draw_run(rng, *, batches, hidden, left_over):
    numbers = np.random.default_rng(rng.getrandbits(64))
    count = 4 * hidden + hidden + hidden + 1
    inputs = {
        "readings": numbers.normal(size=(batches, 6, 4)),
        "temperature": numbers.normal(size=(batches, 6)) + 1.0,
        "start": numbers.normal(size=count) * 0.5,
    }
    return inputs | ({"left_over": numbers.normal(size=count)} if left_over else {})


def replay(inputs, mistake=None):
    """The parameters after the run as one who makes `mistake` would have them; None where it cannot show."""
    if not can_show(inputs, mistake):
        return None
    model = load_model(inputs, with_left_over=mistake == "stale-at-start")
    parameters = list(model.parameters())
    optimizer = fresh_optimizer(inputs, parameters)
    for _ in range(inputs["epochs"]):
        if mistake == "once-an-epoch":
            optimizer.zero_grad()
        for readings, temperature in zip(inputs["readings"], inputs["temperature"], strict=True):
            predicted = model(torch.from_numpy(readings)).squeeze(-1)
            loss = F.mse_loss(predicted, torch.from_numpy(temperature))
            clear(parameters, CLEARED_BEFORE.get(mistake, ()))
            loss.backward()
            clear(parameters, (1, 2) if mistake == "no-update" else ())
            optimizer = fresh_optimizer(inputs, parameters) if mistake == "fresh-optimizer" else optimizer
            optimizer.step()
            clear(parameters, (1, 2) if mistake == "stale-at-start" else ())
    return nn.utils.parameters_to_vector(parameters).detach().numpy()


def load_model(inputs, *, with_left_over):
    sensors, hidden = inputs["readings"].shape[2], inputs["hidden"]
    model = nn.Sequential(nn.Linear(sensors, hidden), nn.Tanh(), nn.Linear(hidden, 1)).double()
    nn.utils.vector_to_parameters(torch.from_numpy(inputs["start"].copy()), model.parameters())
    if with_left_over:
        parameters = list(model.parameters())
        pieces = torch.from_numpy(inputs["left_over"]).split([p.numel() for p in parameters])
        for p, left in zip(parameters, pieces, strict=True):
            p.grad = left.view_as(p).clone()
    return model


def clear(parameters, ranks):
    for p in parameters:
        if p.dim() in ranks:
            p.grad = None


def can_show(inputs, mistake):
    if mistake == "stale-at-start":
        return "left_over" in inputs
    if mistake == "once-an-epoch":
        return inputs["epochs"] > 1
    return mistake != "fresh-optimizer" or inputs["momentum"] > 0


def fresh_optimizer(inputs, parameters):
    return torch.optim.SGD(parameters, lr=inputs["lr"], momentum=inputs["momentum"])


def clear_before(mistake, optimizer, parameters):
    if mistake in (None, "fresh-optimizer"):
        optimizer.zero_grad()
    elif mistake == "some-cleared":
        for p in parameters:
            if p.dim() == 2:
                p.grad = None


def check_case(name, idea, programs, *, public):
    shown = "\n\n".join(f"# run {number}\n{write_program(program)}" for number, program in enumerate(programs, 1))
    sizes = [[program["inputs"], program["hidden"]] for program in programs]
    return case(name, idea, "misses-the-fault", public, {"programs": sizes}, shown) | {"host": programs}


def diagnose_check(programs, got, expected):
    """What kind of programs the check is wrong about; a sick run that was missed is said before a false alarm."""
    wrong = [(p, bool(e)) for p, g, e in zip(programs, got, expected, strict=True) if bool(g) != bool(e)]
    missed = [program for program, is_sick in wrong if is_sick]
    if any(clears(program) == [] for program in missed):
        return "misses-the-fault"
    if missed:
        return "misses-part-of-it"
    if all(clears_after_update(program) for program, _ in wrong):
        return "alarms-on-late-clearing"
    remembers = [program["optimizer"] != "SGD" or "momentum" in program["settings"] for program, _ in wrong]
    return "alarms-on-memory" if all(remembers) else "alarms-on-a-clean-run"


def clears(program):
    """The instructions that clear gradients of the model that is trained."""
    return [line for line in program["body"] if line[0] == "clear" and line[1] != "spare"]


def clears_after_update(program):
    body = program["body"]
    return UPDATE in body and any(line in clears(program) for line in body[body.index(UPDATE) :])


def shuffled(rng, programs):
    return rng.sample(programs, len(programs))


def program(rng, optimizer, settings, *body):
    """Every program clears something, so that the word alone tells nothing."""
    decoy = ["clear", "spare", rng.choice(["none", "zero"]), ALWAYS]
    at = rng.randrange(len(body) + 1)
    return {
        "seed": rng.getrandbits(48),
        "inputs": rng.randint(3, 6),
        "hidden": rng.randint(3, 7),
        "optimizer": optimizer,
        "settings": settings,
        "body": [*body[:at], decoy, *body[at:]],
    }


def rate(rng, low=0.02, high=0.08):
    return round(rng.uniform(low, high), 4)


def clearing(whose="model", how="none", pattern=ALWAYS):
    return ["clear", whose, how, list(pattern)]


BACKWARD, UPDATE = ["backward", 1], ["update"]


def plain(rng):
    return program(rng, "SGD", {"lr": rate(rng)}, clearing(), BACKWARD, UPDATE)


def helped_by_memory(rng):
    settings = {"lr": rate(rng), "momentum": round(rng.uniform(0.7, 0.95), 2)}
    return program(rng, "SGD", settings, clearing(how="zero"), BACKWARD, UPDATE)


def clears_late(rng):
    return program(rng, "SGD", {"lr": rate(rng)}, BACKWARD, UPDATE, clearing())


def adam_and_clipping(rng):
    return program(rng, "Adam", {"lr": rate(rng)}, clearing(how="zero"), BACKWARD, ["clip", 0.5], UPDATE)


def adds_up_on_purpose(rng):
    return program(rng, "AdamW", {"lr": rate(rng)}, clearing(), ["backward", rng.choice([2, 4])], UPDATE)


def without_grad(rng):
    return program(rng, "SGD", {"lr": 0.1}, ["by_hand", rate(rng)])


def rate_too_large(rng):
    return program(rng, "SGD", {"lr": rate(rng, 0.6, 0.9)}, clearing(how="zero"), BACKWARD, UPDATE)


def keeps_for_its_log(rng):
    return program(rng, "SGD", {"lr": rate(rng)}, ["keep"], clearing(), BACKWARD, UPDATE, ["keep"])


def never(rng):
    return program(rng, "SGD", {"lr": rate(rng)}, BACKWARD, UPDATE)


def never_under_adam(rng):
    return program(rng, "Adam", {"lr": rate(rng, 0.005, 0.01)}, BACKWARD, ["clip", 1.0], UPDATE)


def forgets_now_and_then(rng):
    # Not five steps long, as the batches are: then five steps would always do the same.
    pattern = [1] * rng.choice([3, 5]) + [0]
    return program(rng, "SGD", {"lr": rate(rng)}, clearing(pattern=pattern), BACKWARD, UPDATE)


def first_step_only(rng):
    settings = {"lr": rate(rng), "momentum": 0.5}
    return program(rng, "SGD", settings, clearing(how="zero", pattern=[1] + [0] * 200), BACKWARD, UPDATE)


def some_of_them(rng):
    whose = rng.choice(["weights", "biases"])
    return program(rng, "SGD", {"lr": rate(rng)}, BACKWARD, UPDATE, clearing(whose))


def half_of_it(rng):
    return program(rng, "SGD", {"lr": rate(rng)}, clearing(how="half"), ["backward", 2], UPDATE)


def puts_it_back(rng):
    return program(rng, "SGD", {"lr": rate(rng)}, ["keep"], clearing(), BACKWARD, ["put_back"], UPDATE)


def eighth_step_only(rng):
    """The last moment at which a sick run must have shown its fault; before that there is nothing to see."""
    pattern = [1] * 7 + [0] + [1] * 200
    weights, biases = clearing("weights"), clearing("biases", pattern=pattern)
    return program(rng, "SGD", {"lr": rate(rng, 0.05, 0.08)}, weights, biases, BACKWARD, UPDATE)


def one_bias_late(rng):
    pattern = [1] * 6 + [0] + [1] * 200
    settings = {"lr": rate(rng), "momentum": 0.5}
    return program(rng, "SGD", settings, clearing("weights"), clearing("biases", "zero", pattern), BACKWARD, UPDATE)


HEALTHY = [
    plain,
    helped_by_memory,
    clears_late,
    adam_and_clipping,
    adds_up_on_purpose,
    without_grad,
    rate_too_large,
    keeps_for_its_log,
]
SICK = [
    never,
    never_under_adam,
    forgets_now_and_then,
    first_step_only,
    some_of_them,
    half_of_it,
    puts_it_back,
    eighth_step_only,
    one_bias_late,
]
SHOWN = [plain, helped_by_memory, clears_late, never, forgets_now_and_then, eighth_step_only]


def write_program(program):
    """The program as its author would write it."""
    settings = ", ".join(f"{name}={value}" for name, value in program["settings"].items())
    lines = [f"optimizer = {program['optimizer']}(model.parameters(), {settings})", "def step():"]
    return "\n".join(lines + [f"    {write_line(*line)}" for line in program["body"]])


def write_line(instruction, *details):
    if instruction == "clear":
        whose, how, pattern = details
        to = {"none": "None", "zero": "zero", "half": "half of it"}[how]
        when = "" if all(pattern) else f", in {sum(pattern)} steps of {len(pattern)}"
        return f"# set .grad of {'the spare model' if whose == 'spare' else f'the {whose}'} to {to}{when}"
    if instruction == "backward":
        parts = details[0]
        return "loss.backward()" if parts == 1 else f"# loss.backward() on {parts} parts of the batch"
    return {
        "update": "optimizer.step()",
        "clip": f"clip_grad_norm_(model.parameters(), {details[0] if details else ''})",
        "by_hand": f"# p -= {details[0] if details else ''} * autograd.grad(loss, p)",
        "keep": "kept = [p.grad.clone() for p in model.parameters()]",
        "put_back": "# p.grad += kept",
    }[instruction]

"""Trainings, replayed with every mistake that is known; and functions for the learner's own check."""

import numpy as np

NEAR = 1e-7
APART = 1e-4
MISTAKES = ("still-edited", "loss-is-capped", "rate-without-gradient")
SIZE = 5
LEAST_OFF = 0.02


def draw_cases(rng):
    return [
        train_case(rng, "bars that fit", "No bar reaches the cap: nothing is cut off", cap=1000.0),
        train_case(rng, "one step", "One batch in which some bars are cut off: where the step leads", batches=1),
        train_case(rng, "five steps", "Five batches; the display cuts off about half of the bars", batches=5),
        check_case(
            "six functions",
            "Your check, on three functions whose gradient is right and three whose gradient is wrong",
            shuffled(rng, [writes_nothing, edits_a_copy, nobody_needs_it, caps, edits_an_input, zeroes_one]),
            public=True,
        ),
        train_case(
            rng, "nearly all cut off", "The display is so low that nearly all bars are cut off", cap=0.4, public=False
        ),
        train_case(rng, "twelve steps", "Twelve batches, and a smaller rate", batches=12, lr=0.02, public=False),
        check_case(
            "twenty-four functions",
            "Your check, on twenty-four functions in secret order: each wrong gradient found, no right one accused",
            shuffled(rng, HARMLESS + HARMFUL),
            public=False,
        ),
    ]


def shuffled(rng, makers):
    """One function of each maker, in secret order."""
    return rng.sample([draw(rng) for draw in makers], len(makers))


def diagnose(inputs, got, expected):
    if "programs" in inputs:
        return diagnose_check(inputs["host"], got["wrong"], expected["wrong"])
    if not got["inputs unchanged"]:
        return "writes-into-inputs"
    if near(got["weights"], expected["weights"]):
        return "display-changed"
    return next((mistake for mistake in MISTAKES if near(got["weights"], replay(inputs, mistake))), None)


def near(got, wanted):
    return np.allclose(got, wanted, rtol=NEAR, atol=NEAR)


def train_case(rng, name, idea, *, batches=3, lr=0.05, cap=None, public=True):
    """A training in which every mistake shows, where bars are cut off."""
    while True:
        numbers = np.random.default_rng(rng.getrandbits(64))
        hours = numbers.normal(size=(batches, 8, SIZE))
        inputs = {
            "hours": hours,
            "counts": numbers.poisson(3.0, size=(batches, 8)).astype(float),
            "start": numbers.normal(size=SIZE) * 0.6,
            "lr": lr,
            "cap": 1.1 if cap is None else cap,
        }
        truth = replay(inputs)
        uncut = inputs["cap"] > 100
        wrongs = [replay(inputs, mistake) for mistake in MISTAKES if not (uncut and mistake != MISTAKES[-1])]
        if all(np.abs(wrong - truth).max() > APART for wrong in wrongs) and np.abs(truth).max() < 10:
            break
    shown = (
        f"train(weights, batches, lr={lr}, cap={inputs['cap']})\n{batches} batch(es) of 8 hours, {SIZE} facts each"
    )
    return case(name, idea, "training-changed", public, inputs, shown)


def replay(inputs, mistake=None):
    """The weights after the training as one who makes `mistake` would have them."""
    weights = inputs["start"].copy()
    with np.errstate(over="ignore", invalid="ignore"):  # with a mistake, or a bad draw, it may diverge
        for hours, counts in zip(inputs["hours"], inputs["counts"], strict=True):
            rate = np.exp(hours @ weights)
            slope = {
                None: rate,
                "still-edited": np.minimum(rate, inputs["cap"]),
                "loss-is-capped": rate * (rate <= inputs["cap"]),
                "rate-without-gradient": 0 * rate,
            }[mistake]
            weights = weights - inputs["lr"] * hours.T @ (slope - counts) / len(counts)
    return weights


def case(name, idea, finding, public, inputs, shown):
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": public,
        "inputs": inputs,
        "shown": shown if public else "",
    }


def check_case(name, idea, programs, *, public):
    shown = "\n\n".join(f"# function {number}\n{write_program(p)}" for number, p in enumerate(programs, 1))
    points = [program["x"] for program in programs]
    return case(name, idea, "misses-the-fault", public, {"programs": points}, shown) | {"host": programs}


def diagnose_check(programs, got, expected):
    """What kind of functions the check is wrong about; a missed wrong gradient is said before a false alarm."""
    wrong = [(p, bool(e)) for p, g, e in zip(programs, got, expected, strict=True) if bool(g) != bool(e)]
    missed = [program for program, is_wrong in wrong if is_wrong]
    if any(not is_slight(program) for program in missed):
        return "misses-the-fault"
    if missed:
        return "misses-the-slight"
    if all(is_large(program) for program, _ in wrong):
        return "alarms-on-large"
    without_edits = any(not find_edits(program) for program, _ in wrong)
    return "alarms-without-a-write" if without_edits else "alarms-on-a-harmless-edit"


def find_edits(program):
    return [line for line in program["body"] if line[0] == "edit"]


def is_slight(program):
    """A few percent, or one entry alone."""
    edits = find_edits(program)
    return len(edits) > 1 or any(line[3] in ("one", "flip") for line in edits)


def is_large(program):
    return any(line[0] == "add_in_place" and line[2] > 3 for line in program["body"])


class Draft:
    """A program that is being drawn, with the value of `matrix @ x` at hand to choose numbers by."""

    def __init__(self, rng):
        while True:
            numbers = np.random.default_rng(rng.getrandbits(64))
            self.matrix = numbers.normal(size=(SIZE, SIZE)) * 0.7
            self.x = numbers.normal(size=SIZE)
            self.values = self.matrix @ self.x
            self.mixed = np.sort(self.values)
            # Values well apart, so that a cap between two of them is far from both.
            apart = min(np.diff(self.mixed).min(), np.abs(self.x - self.x[::-1])[[0, 1]].min())
            if apart > 0.08 and max(np.abs(self.mixed).max(), np.abs(self.x).max()) < 1.5:
                break
        self.weights = numbers.uniform(0.5, 1.5, size=SIZE)
        self.door = rng.choice(["data", "numpy"])
        self.factor = round(rng.uniform(1.4, 2.5), 3)

    def cap(self, function=np.exp):
        """Between the third and the fourth of the five values: two entries are cut."""
        return round(float(function((self.mixed[2] + self.mixed[3]) / 2)), 4)

    def shrink(self):
        """The factor that makes 0.08 of the largest slope of the exponentials' total."""
        slopes = self.matrix.T @ (self.weights * np.exp(self.values))
        return float(0.08 / np.abs(slopes).max())

    def is_off(self, slopes, edited):
        """Whether the gradient shows it that the mixed values' own slopes have been edited."""
        true, wrong = (self.matrix.T @ (self.weights * each) for each in (slopes, edited))
        return np.abs(true - wrong).max() > LEAST_OFF * np.abs(true).max()

    def finish(self, *body):
        return self.finish_unmixed(["mix", "h", "x"], *body)

    def finish_unmixed(self, *body):
        """Without the matrix: each entry of x has a slope of its own."""
        return {
            "x": self.x.tolist(),
            "matrix": self.matrix.tolist(),
            "weights": self.weights.tolist(),
            "body": list(body),
        }


EXP = ["apply", "y", "exp", "h"]
EXP_OF_X = ["apply", "y", "exp", "x"]
TOTAL = ["total", "loss", "y"]


def edits_a_copy(rng):
    d = Draft(rng)
    return d.finish(EXP, TOTAL, ["copy", "c", "y"], ["edit", "c", d.door, "cap", d.cap()])


def nobody_needs_it(rng):
    d = Draft(rng)
    tripled = [["times", "t", "h", 3.0], ["total", "a", "t"], ["edit", "t", d.door, "times", d.factor]]
    return d.finish(EXP, ["total", "b", "y"], *tripled, ["add", "loss", "a", "b"])


def never_bites(rng):
    d = Draft(rng)
    return d.finish(
        EXP, TOTAL, ["edit", "y", d.door, "cap", round(float(np.exp(d.mixed[-1]) + rng.uniform(0.5, 2)), 4)]
    )


def takes_it_back(rng):
    d = Draft(rng)
    there, back = rng.choice([(2.0, 0.5), (4.0, 0.25), (0.5, 2.0)])
    edits = ["edit", "y", d.door, "times", there], ["edit", "y", d.door, "times", back]
    return d.finish(["apply", "y", "tanh", "h"], TOTAL, *edits)


def edits_a_constant_first(rng):
    d = Draft(rng)
    return d.finish(["edit", "w", d.door, "times", d.factor], EXP, ["times", "z", "y", "w"], ["total", "loss", "z"])


def recorded(rng):
    d = Draft(rng)
    doubled = [["times", "t", "h", 2.0], ["add_in_place", "t", round(rng.uniform(0.2, 0.8), 3)]]
    return d.finish(
        *doubled, ["apply", "y", "sigmoid", "t"], TOTAL, ["copy", "c", "t"], ["edit", "c", d.door, "times", d.factor]
    )


def large(rng):
    d = Draft(rng)
    raised = [["times", "t", "h", 1.0], ["add_in_place", "t", round(rng.uniform(8.0, 9.0), 3)]]
    return d.finish(
        *raised, ["apply", "y", "exp", "t"], TOTAL, ["copy", "c", "y"], ["edit", "c", d.door, "times", d.factor]
    )


def draft_off(rng, edit):
    """A draft in which `edit`, which gives true and edited slopes, makes a difference that can be measured."""
    while True:
        draft = Draft(rng)
        if draft.is_off(*edit(draft)):
            return draft


def caps(rng):
    d = draft_off(rng, lambda d: (np.exp(d.values), np.minimum(np.exp(d.values), d.cap())))
    return d.finish(EXP, TOTAL, ["edit", "y", d.door, "cap", d.cap()])


def scales(rng):
    d = Draft(rng)
    return d.finish(["apply", "y", "sigmoid", "h"], TOTAL, ["edit", "y", d.door, "times", d.factor])


def one_entry(rng):
    d = draft_off(rng, lambda d: (np.exp(d.values), np.exp(d.values) * ([d.factor] + [1.0] * (SIZE - 1))))
    return d.finish(EXP, TOTAL, ["edit", "y", d.door, "one", d.factor, 0])


def edits_an_input(rng):
    d = Draft(rng)
    product = ["times", "y", "h", "g"]
    return d.finish(["apply", "g", "cos", "h"], product, TOTAL, ["edit", "g", d.door, "times", d.factor])


def edits_before_use(rng):
    d = Draft(rng)
    return d.finish(EXP, ["edit", "y", d.door, "cap", d.cap()], ["apply", "z", "square", "y"], ["total", "loss", "z"])


def slightly(rng):
    d = Draft(rng)
    edits = ["edit", "y", d.door, "times", 2.0], ["edit", "y", d.door, "times", round(rng.uniform(0.515, 0.53), 4)]
    return d.finish(EXP, TOTAL, *edits)


def slightly_small(rng):
    """Slopes near 0.08, and an error of a few percent of that."""
    d = Draft(rng)
    edits = ["edit", "y", d.door, "times", 2.0], ["edit", "y", d.door, "times", round(rng.uniform(0.512, 0.516), 4)]
    return d.finish(EXP, ["total", "a", "y"], ["times", "loss", "a", d.shrink()], *edits)


def small(rng):
    d = Draft(rng)
    copied = ["copy", "c", "y"], ["edit", "c", d.door, "times", d.factor]
    return d.finish(EXP, ["total", "a", "y"], ["times", "loss", "a", d.shrink()], *copied)


def edits_what_is_squared(rng):
    def shift(value):
        return 1.5 * value + 2.0

    d = draft_off(rng, lambda d: (shift(d.values), np.minimum(shift(d.values), d.cap(shift))))
    shifted = [["times", "t", "h", 1.5], ["add_in_place", "t", 2.0]]
    cap = d.cap(shift)
    return d.finish(*shifted, ["apply", "y", "square", "t"], TOTAL, ["edit", "t", d.door, "cap", cap])


def writes_nothing(rng):
    return Draft(rng).finish(EXP, ["apply", "z", "square", "y"], ["total", "loss", "z"])


def flips_twice(rng):
    d = Draft(rng)
    return d.finish_unmixed(EXP_OF_X, TOTAL, ["edit", "y", d.door, "flip", 0.0], ["edit", "y", d.door, "flip", 0.0])


def edits_one_that_nobody_needs(rng):
    d = Draft(rng)
    tripled = [["times", "t", "x", 3.0], ["total", "a", "t"], ["edit", "t", d.door, "one", d.factor, 3]]
    return d.finish_unmixed(EXP_OF_X, ["total", "b", "y"], *tripled, ["add", "loss", "a", "b"])


def one_coordinate(rng):
    """Right in every coordinate but one, and never wrong in the first."""
    d = Draft(rng)
    return d.finish_unmixed(EXP_OF_X, TOTAL, ["edit", "y", d.door, "one", d.factor, rng.randrange(1, SIZE)])


def zeroes_one(rng):
    """Along its own gradient the function climbs as that gradient says: the entry at fault is zero in it."""
    d = Draft(rng)
    return d.finish_unmixed(EXP_OF_X, TOTAL, ["edit", "y", d.door, "one", 0.0, rng.randrange(1, SIZE)])


def zeroes_all(rng):
    """The gradient is zero, and the function climbs all the same."""
    d = Draft(rng)
    return d.finish(EXP, TOTAL, ["edit", "y", d.door, "times", 0.0])


def zeroes_a_copy(rng):
    d = Draft(rng)
    return d.finish(EXP, TOTAL, ["copy", "c", "y"], ["edit", "c", d.door, "times", 0.0])


def flips(rng):
    """The entries of the gradient trade places: their sum is right."""
    d = Draft(rng)
    return d.finish_unmixed(EXP_OF_X, ["sum", "loss", "y"], ["edit", "y", d.door, "flip", 0.0])


HARMLESS = [
    writes_nothing,
    edits_a_copy,
    nobody_needs_it,
    never_bites,
    takes_it_back,
    edits_a_constant_first,
    recorded,
    large,
    flips_twice,
    edits_one_that_nobody_needs,
    zeroes_a_copy,
    small,
]
HARMFUL = [
    caps,
    scales,
    one_entry,
    edits_an_input,
    edits_before_use,
    slightly,
    slightly_small,
    edits_what_is_squared,
    one_coordinate,
    zeroes_one,
    zeroes_all,
    flips,
]


def write_program(program):
    """The function as its author would write it."""
    lines = ["def function(x):"]
    return "\n".join(lines + [f"    {write_line(*line)}" for line in program["body"]] + ["    return loss"])


def write_line(instruction, *details):
    if instruction == "edit":
        return write_edit(*details)
    forms = {
        "mix": "{} = matrix @ {}",
        "apply": "{} = torch.{}({})",
        "times": "{} = {} * {}",
        "add": "{} = {} + {}",
        "total": "{} = ({} * w).sum()",
        "sum": "{} = {}.sum()",
        "add_in_place": "{}.add_({})",
        "copy": "{} = {}.detach().clone()",
    }
    return forms[instruction].format(*details)


def write_edit(name, door, how, number, place=0):
    raw = f"{name}.data" if door == "data" else f"{name}.detach().numpy()"
    if how == "cap":
        return f"{raw}.clamp_(max={number})" if door == "data" else f"np.minimum(a := {raw}, {number}, out=a)"
    if how == "flip":
        return f"{raw}[:] = {raw}.flip(0)" if door == "data" else f"{raw}[:] = {raw}[::-1].copy()"
    return f"{raw}[{place}] *= {number}" if how == "one" else f"{raw}[:] *= {number}"

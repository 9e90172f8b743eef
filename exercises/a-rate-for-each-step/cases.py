"""Cases: one per range of the schedule, then the edges, a mixed order, and schedules drawn at random."""

import math

RANDOM_SCHEDULES = 3
NEAR = 1e-9
SINGLE = 1e-5  # as near as rates in float32 get, where the wave is not yet close to a floor of 0


def draw_cases(rng):
    warmup = rng.randint(4, 7)
    total = warmup + 2 * rng.randint(4, 8)
    peak, floor = draw_rates(rng)
    low = peak / 20000
    cases = [
        case(
            "the warmup",
            "The warmup starts above 0 and ends at the peak",
            "warmup",
            range(warmup),
            total,
            warmup,
            *draw_rates(rng),
        ),
        case(
            "where the warmup ends",
            "The last step of the warmup and the first of the wave both have the peak",
            "jump",
            [warmup - 1, warmup],
            total,
            warmup,
            *draw_rates(rng),
        ),
        case(
            "the wave",
            "Half a cosine wave from the peak down to the floor",
            "wave",
            range(warmup, total),
            total,
            warmup,
            *draw_rates(rng),
        ),
        case(
            "at the end",
            "From step `total` on, the rate is the floor",
            "after-the-end",
            range(total - 1, 2 * total, 3),
            total,
            warmup,
            *draw_rates(rng),
        ),
        case("no warmup", "With warmup = 0, step 0 has the peak", "no-warmup", range(4), total, 0, peak, floor),
        case(
            "a floor of zero",
            "The floor may be 0",
            "wave",
            range(total + 2),
            total,
            warmup,
            peak,
            0.0,
        ),
        hide(case("one step of warmup", "A warmup of one step", "warmup", range(5), total, 1, peak, floor)),
        hide(
            case(
                "only warmup",
                "With warmup = total, the floor follows the peak",
                "no-wave",
                range(warmup + 3),
                warmup,
                warmup,
                peak,
                floor,
            )
        ),
        hide(case("a run of one step", "A run of one step without warmup", "no-warmup", range(3), 1, 0, peak, floor)),
        hide(case("a tiny floor", "The wave may go down to a tiny floor", "wave", range(total), total, 2, peak, low)),
        hide(
            case(
                "a mixed order",
                "The order of the calls does not matter",
                "keeps-state",
                mix(rng, total + 4),
                total,
                warmup,
                *draw_rates(rng),
            )
        ),
    ]
    for number in range(1, RANDOM_SCHEDULES + 1):
        idea = f"Random schedule {number} of {RANDOM_SCHEDULES}, with steps from all ranges in a mixed order"
        cases.append(hide(case(f"random schedule {number}", idea, "larger", *draw_schedule(rng))))
    return cases


def draw_schedule(rng):
    warmup, rest = rng.randint(20, 300), rng.randint(301, 3000)
    total = warmup + rest
    edges = [0, 1, warmup - 1, warmup, warmup + 1, total - 1, total, total + rest]
    steps = edges + [rng.randrange(total) for _ in range(30)]
    rng.shuffle(steps)
    return steps, total, warmup, *draw_rates(rng)


def draw_rates(rng):
    peak = round(rng.uniform(0.2, 0.9), 3)
    return peak, round(peak * rng.uniform(0.1, 0.3), 4)


def mix(rng, count):
    steps = list(range(count))
    while steps[0] < 3 or steps == sorted(steps):
        rng.shuffle(steps)
    return steps


def case(name, idea, finding, steps, total, warmup, peak, floor):
    steps = list(steps)
    written = f"lr_at(step, total={total}, warmup={warmup}, peak={peak}, floor={floor})"
    return {
        "name": name,
        "idea": idea,
        "finding": finding,
        "public": True,
        "inputs": {"steps": steps, "total": total, "warmup": warmup, "peak": peak, "floor": floor},
        "shown": f"[{written} for step in {steps}]",
        "labels": {"rates": {f"step {step} (call {call})": [] for call, step in enumerate(steps, 1)}},
    }


def hide(drawn):
    return drawn | {"public": False, "shown": ""}


def diagnose(inputs, got, expected):
    """The mistake that gives exactly these rates, if there is one, or else whether they are nearly right."""
    rates, steps = list(got["rates"]), inputs["steps"]
    given = [inputs[name] for name in ("total", "warmup", "peak", "floor")]
    for code, model in MISTAKES:
        try:
            wrong = [model(step, *given) for step in steps]
        except ZeroDivisionError:
            continue
        if all(map(is_near, rates, wrong)):
            return code
    near = all(is_near(got, right, SINGLE) for got, right in zip(rates, expected["rates"], strict=True))
    return "single-precision" if near else None


def is_near(got, wrong, bound=NEAR):
    return math.isclose(got, wrong, rel_tol=bound, abs_tol=1e-13)


def build(rise=None, begin=lambda total, warmup: warmup, after=None, mixed=None, wave=None):
    """A schedule in which one part is another than asked."""

    def lr(step, total, warmup, peak, floor):
        if step < warmup:
            return (rise or (lambda s, w, p, f: p * (s + 1) / w))(step, warmup, peak, floor)
        first = begin(total, warmup)
        fraction = (step - first) / (total - warmup if begin(9, 5) == 5 else total - first)
        if step >= total:
            if after is None:
                return floor
            fraction = after(fraction)
        share = (wave or (lambda x: 0.5 * (1 + math.cos(math.pi * x))))(fraction)
        return (mixed or (lambda k, p, f: f + (p - f) * k))(share, peak, floor)

    return lr


MISTAKES = [
    ("first-step-zero", build(rise=lambda s, w, p, f: p * s / w)),
    ("peak-never-reached", build(rise=lambda s, w, p, f: p * (s + 1) / (w + 1))),
    ("warmup-from-floor", build(rise=lambda s, w, p, f: f + (p - f) * (s + 1) / w)),
    ("warmup-from-floor", build(rise=lambda s, w, p, f: f + (p - f) * s / w)),
    ("jump", build(begin=lambda total, warmup: 0)),
    ("floor-ignored", build(mixed=lambda k, p, f: p * k)),
    ("floor-ignored", build(mixed=lambda k, p, f: p * k, after=lambda x: 1)),
    ("floor-added", build(mixed=lambda k, p, f: f + p * k)),
    ("floor-cut-off", build(mixed=lambda k, p, f: max(f, p * k))),
    ("not-a-cosine", build(wave=lambda x: 1 - x)),
    ("not-a-cosine", build(wave=lambda x: math.cos(math.pi * x / 2))),
    ("rises-again", build(after=lambda x: x)),
]

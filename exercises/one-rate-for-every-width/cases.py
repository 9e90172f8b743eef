"""Models at two widths, with the rates that every known mistake gives them."""

import math

NEAR = 1e-6
MISTAKES = (
    "same-everywhere",
    "inverted",
    "root",
    "fan-out",
    "whole-fan-in",
    "all-divided",
    "embedding-divided",  # before the next one, which fails already where there is no table
    "matrices-divided",
    "vectors-divided",
    "groups-ignored",
    "numbers-counted",
)


def draw_cases(rng):
    cases = [
        draw(
            rng, "three layers", "An input layer, a hidden layer and an output layer", "differs", *three_layers(rng)
        ),
        draw(rng, "an embedding", "A table of embeddings, a norm and two layers", "differs", *with_table(rng)),
        draw(rng, "two widths", "Two widths that grow differently", "two-growths", *two_widths(rng)),
        draw(
            rng, "convolutions", "Convolutions, one of them with a group per channel", "convolutions", *convolve(rng)
        ),
        draw(rng, "the same width", "The model is as wide as the base", "no-growth", *fixed(rng, 48, 48)),
        draw(rng, "narrower", "The model is narrower than the base", "narrower", *fixed(rng, 96, 32)),
        draw(rng, "a broken ratio", "The width grows by 5/3", "not-whole", *fixed(rng, 48, 80)),
        draw(
            rng, "recurrent", "A GRUCell: one matrix for the input, one for the state", "recurrent", *recurrent(rng)
        ),
        draw(rng, "groups", "A convolution with four groups", "convolutions", *grouped(rng)),
        draw(rng, "deep inside", "Layers inside other modules, as in a transformer", "nested", *transformer(rng)),
    ]
    for hidden in cases[4:]:
        hidden |= {"public": False, "shown": ""}
    return cases


def diagnose(inputs, got, expected):
    # These two have failed before: here, it is rather someone who never raises a rate, or errs in the cell alone.
    done = {"same-everywhere"} if inputs_width(inputs) < 1 else set()
    done |= {"matrices-divided"} if any(part[1] == "gru" for part in inputs["model"]) else set()
    known = [mistake for mistake in MISTAKES if mistake not in done]
    return next((m for m in known if is_near(got["rates"], rate_all(inputs, m))), None)


def is_near(got, wrong):
    return all(math.isclose(a, b, rel_tol=NEAR) for a, b in zip(got, wrong, strict=True))


def three_layers(rng):
    inputs, width, growth = rng.choice([20, 24, 28]), rng.choice([48, 64]), rng.choice([3, 4, 8])

    def build(w):
        return [["first", "linear", inputs, w], ["hidden", "linear", w, w], ["last", "linear", w, 10]]

    return build, width, growth * width


def with_table(rng):
    words, width, growth = rng.choice([100, 120, 150]), rng.choice([32, 64]), rng.choice([3, 4, 8])

    def build(w):
        return [
            ["table", "embedding", words, w],
            ["norm", "norm", w],
            ["hidden", "linear", w, w],
            ["last", "linear", w, words, "no bias"],
        ]

    return build, width, growth * width


def two_widths(rng):
    inner, growth = rng.choice([40, 56]), rng.choice([6, 8])

    def build(w):
        wide = inner if w == 32 else 2 * inner
        return [
            ["first", "linear", 12, w],
            ["up", "linear", w, wide],
            ["down", "linear", wide, w],
            ["last", "linear", w, 5],
        ]

    return build, 32, growth * 32


def convolve(rng):
    width, growth = rng.choice([16, 24]), rng.choice([3, 4])

    def build(w):
        return [
            ["first", "conv", 2, w, 5, 1],
            ["mixed", "conv", w, w, 3, 1],
            ["single", "conv", w, w, 7, w],
            ["last", "linear", w, 10],
        ]

    return build, width, growth * width


def fixed(rng, width, new):
    table, _, _ = with_table(rng)
    return (lambda w: [*table(w), ["deep", "linear", w, w]]), width, new


def recurrent(rng):
    width, growth = rng.choice([24, 32]), rng.choice([2, 3])
    return (lambda w: [["cell", "gru", 9, w], ["last", "linear", w, 1]]), width, growth * width


def grouped(rng):
    width, growth = rng.choice([16, 32]), rng.choice([3, 5])
    return (lambda w: [["grouped", "conv", w, w, 3, 4], ["last", "linear", w, 4]]), width, growth * width


def transformer(rng):
    width, growth = rng.choice([16, 32]), rng.choice([3, 4])

    def build(w):
        attention = [["mix", "linear", w, 3 * w], ["back", "linear", w, w, "no bias"]]
        inner = [["up", "linear", w, 4 * w], ["down", "linear", 4 * w, w]]
        block = [["norm", "norm", w], ["attention", "block", attention], ["inner", "block", inner]]
        return [["words", "embedding", 70, w], ["places", "embedding", 20, w], ["block", "block", block]]

    return build, width, growth * width


def draw(rng, name, idea, finding, build, width, new):
    inputs = {"base": build(width), "model": build(new), "lr": round(rng.uniform(0.001, 0.009), 5)}
    lines = [f"make_rates(base, model, lr={inputs['lr']})"]
    for old, grown in zip(inputs["base"], inputs["model"], strict=True):
        lines.append(f"# {old[0]}: {describe(old)} in base, {describe(grown)} in model")
    case = {"name": name, "idea": idea, "finding": finding, "public": True, "inputs": inputs}
    labels = {"rates": {parameter: [] for parameter in name_parameters(inputs["model"])}}
    return case | {"shown": "\n".join(lines), "labels": labels}


def name_parameters(parts, prefix=""):
    """As `named_parameters` has them."""
    names = []
    for name, kind, *sizes in parts:
        if kind == "block":
            names += name_parameters(sizes[0], f"{prefix}{name}.")
        else:
            own = ("weight_ih", "weight_hh", "bias_ih", "bias_hh") if kind == "gru" else ("weight", "bias")
            names += [f"{prefix}{name}.{word}" for word in own[: len(OF_KIND[kind](*sizes))]]
    return names


def describe(part):
    _, kind, *sizes = part
    match kind:
        case "conv":
            return f"nn.Conv1d({sizes[0]}, {sizes[1]}, {sizes[2]}, groups={sizes[3]})"
        case "linear":
            return f"nn.Linear({sizes[0]}, {sizes[1]}" + (", bias=False)" if len(sizes) > 2 else ")")
    names = {"embedding": "Embedding", "norm": "LayerNorm", "gru": "GRUCell", "block": "Module"}
    return f"nn.{names[kind]}({', '.join(map(str, sizes))})" if kind != "block" else "several layers"


def rate_all(inputs, mistake=None):
    """The rates in the order of the parameters, as a program with `mistake` gives them."""
    pairs = zip(list_parameters(inputs["base"]), list_parameters(inputs["model"]), strict=True)
    return [rate_one(base, model, inputs, mistake) for base, model in pairs]


def rate_one(base, model, inputs, mistake):
    growth = model["terms"] / base["terms"]
    wrong = WRONG_GROWTH.get(mistake, lambda base, model, ratio, growth: growth)
    return inputs["lr"] / wrong(base, model, inputs_width(inputs), growth)


def is_matrix(parameter):
    return len(parameter["shape"]) > 1


def along(axis, base, model):
    return model["shape"][axis] / base["shape"][axis]


# From both parameters, the growth of the width, and the right growth.
WRONG_GROWTH = {
    "same-everywhere": lambda base, model, ratio, growth: 1.0,
    "inverted": lambda base, model, ratio, growth: 1 / growth,
    "root": lambda base, model, ratio, growth: math.sqrt(growth),
    "fan-out": lambda base, model, ratio, growth: along(0, base, model) if is_matrix(model) else 1.0,
    "whole-fan-in": lambda base, model, ratio, growth: model["terms"],
    "all-divided": lambda base, model, ratio, growth: ratio,
    "matrices-divided": lambda base, model, ratio, growth: ratio if is_matrix(model) else 1.0,
    "embedding-divided": lambda base, model, ratio, growth: (
        along(1, base, model) if model["kind"] == "embedding" else growth
    ),
    "vectors-divided": lambda base, model, ratio, growth: growth if is_matrix(model) else along(0, base, model),
    "groups-ignored": lambda base, model, ratio, growth: (
        model["channels"] / base["channels"] if "channels" in model else growth
    ),
    "numbers-counted": lambda base, model, ratio, growth: math.prod(model["shape"]) / math.prod(base["shape"]),
}


def inputs_width(inputs):
    """The growth of what the first layer gives."""
    sizes = [list_parameters(parts)[0]["shape"] for parts in (inputs["base"], inputs["model"])]
    place = 1 if inputs["base"][0][1] == "embedding" else 0
    return sizes[1][place] / sizes[0][place]


def list_parameters(parts):
    """Each parameter with its shape, and how many products of it one entry of the result adds up."""
    found = []
    for _, kind, *sizes in parts:
        if kind == "block":
            found += list_parameters(sizes[0])
        else:
            found += [{"kind": kind, "terms": 1} | parameter for parameter in OF_KIND[kind](*sizes)]
    return found


OF_KIND = {
    "embedding": lambda rows, size: [{"shape": (rows, size)}],
    "norm": lambda size: [{"shape": (size,)}, {"shape": (size,)}],
    "linear": lambda ins, outs, *no_bias: (
        [{"shape": (outs, ins), "terms": ins}] + [{"shape": (outs,)}] * (not no_bias)
    ),
    "conv": lambda ins, outs, width, groups: [
        {"shape": (outs, ins // groups, width), "terms": ins // groups * width, "channels": ins},
        {"shape": (outs,)},
    ],
    "gru": lambda ins, size: [
        {"shape": (3 * size, ins), "terms": ins},
        {"shape": (3 * size, size), "terms": size},
        {"shape": (3 * size,)},
        {"shape": (3 * size,)},
    ],
}

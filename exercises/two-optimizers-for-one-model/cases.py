"""Models with sparse and dense gradients, trained by the formulas of SparseAdam and AdamW."""

import numpy as np
import torch
from torch.nn import functional as F

ROWS, SIZE, BATCH, TOKENS = 7, 3, 4, 2
NEAR = 1e-6
APART = 1e-4
BETAS, EPSILON = (0.9, 0.999), 1e-8
MISTAKES = (
    "dense-not-trained",
    "sparse-not-trained",
    "no-decay",
    "default-decay",
    "coupled-decay",
    "default-rate",
    "sparse-by-sgd",
    "sparse-by-adagrad",
    "trained-twice",
)
REFUSALS = {1: "adam-refuses", 2: "dense-refused", 3: "decay-refused", 4: "decay-refused"}
WORDS, FILMS = ["lookup", "words", True], ["lookup", "films", True]
LAYER = ["layer", "embedding_to_hidden"]


def draw_cases(rng):
    cases = [
        draw(rng, "one table", "A sparse lookup and a layer", "differs", [WORDS, LAYER]),
        draw(
            rng,
            "two kinds of tables",
            "One table with sparse gradients and one with dense ones",
            "dense-table",
            [WORDS, ["lookup", "genres", False], LAYER],
        ),
        draw(rng, "a bag", "An EmbeddingBag", "bag-missed", [["bag", "tags", True], ["bag", "moods", False], LAYER]),
        draw(
            rng,
            "a shared weight",
            "The output layer uses the table too",
            "shared",
            [WORDS, LAYER, ["output", "words"]],
        ),
        draw(
            rng,
            "two lookups",
            "Two sparse lookups share a weight",
            "shared-lookups",
            [WORDS, ["same", "films", "words"], LAYER],
        ),
        draw(
            rng,
            "sparse and dense lookup",
            "A sparse lookup uses the weight of a dense one",
            "shared",
            [["lookup", "words", False], ["same", "films", "words"], LAYER],
        ),
        draw(rng, "nothing sparse", "No gradient is sparse", "one-kind", [["lookup", "words", False], LAYER]),
        draw(rng, "nothing dense", "All gradients are sparse", "one-kind", [WORDS, FILMS]),
        draw(
            rng,
            "deep inside",
            "The tables are inside other modules",
            "nested",
            [WORDS, FILMS, LAYER, ["norm", "norm"]],
            nested=True,
        ),
        draw(
            rng,
            "frozen",
            "A table and a layer are frozen",
            "frozen",
            [WORDS, FILMS, LAYER, ["layer", "last"]],
            frozen=[0, 2, 3],
        ),
        draw(
            rng,
            "longer",
            "Eight steps",
            "differs",
            [WORDS, ["lookup", "genres", False], LAYER, ["norm", "norm"]],
            steps=8,
        ),
    ]
    for hidden in cases[4:]:
        hidden |= {"public": False, "shown": ""}
    return cases


def diagnose(inputs, got, expected):
    if list(got["sparse"]) != list(expected["sparse"]):
        return "made-dense"
    wanted = [bool(part[2]) for part in inputs["parts"] if part[0] in ("lookup", "bag")]
    if got["refusal"]:
        plain = len(inputs["parts"]) == 2 and wanted == [True]
        return REFUSALS[int(got["refusal"])] if plain or got["refusal"] > 2 else None
    for mistake in find_mistakes(inputs):
        if np.allclose(got["parameters"], replay(inputs, mistake), rtol=NEAR, atol=NEAR):
            return "no-decay" if mistake == "default-decay" else mistake
    return None


def find_mistakes(inputs):
    """Those that this case can show."""
    trained = [s for place, s in enumerate(find_sparse(inputs["parts"])) if place not in inputs["frozen"]]
    hidden = set() if any(trained) else {"sparse-not-trained", "sparse-by-sgd", "sparse-by-adagrad"}
    if all(trained):
        hidden |= {"dense-not-trained", "no-decay", "default-decay", "coupled-decay", "trained-twice"}
    return [mistake for mistake in MISTAKES if mistake not in hidden]


def draw(rng, name, idea, finding, parts, *, nested=False, frozen=(), steps=4):
    sizes = [np.prod(shape) for shape in list_shapes(parts)]
    tables = sum(kind in ("lookup", "bag", "same") for kind, *_ in parts)
    while True:
        numbers = np.random.default_rng(rng.getrandbits(64))
        wide = ROWS if parts[-1][0] == "output" else SIZE
        inputs = {
            "parts": parts,
            "nested": nested,
            "frozen": list(frozen),
            # Two rows of each table are never looked up: only a dense step moves them.
            "words": numbers.integers(0, ROWS - 2, size=(steps, tables, BATCH, TOKENS)),
            "goals": numbers.normal(size=(steps, BATCH, wide)),
            "start": numbers.normal(size=int(sum(sizes))) * 0.7,
            "lr": round(float(numbers.uniform(0.02, 0.08)), 3),
            "weight_decay": round(float(numbers.uniform(0.2, 0.5)), 2),
        }
        truth = replay(inputs)
        if all(np.abs(replay(inputs, mistake) - truth).max() > APART for mistake in find_mistakes(inputs)):
            break
    call = f"make_optimizers(model, lr={inputs['lr']}, weight_decay={inputs['weight_decay']})"
    shown = "\n".join([call, f"# then {steps} steps", *(f"# {describe(part)}" for part in parts)])
    return {"name": name, "idea": idea, "finding": finding, "public": True, "inputs": inputs, "shown": shown}


def describe(part):
    match part:
        case ["lookup", name, sparse]:
            return f"model.tables.{name} = nn.Embedding({ROWS}, {SIZE}, sparse={sparse})"
        case ["bag", name, sparse]:
            return f"model.tables.{name} = nn.EmbeddingBag({ROWS}, {SIZE}, mode='sum', sparse={sparse})"
        case ["output", name]:
            return f"model.output = nn.Linear({SIZE}, {ROWS}, bias=False), with the weight of model.tables.{name}"
        case ["layer", name]:
            return f"model.layers.{name} = nn.Linear({SIZE}, {SIZE})"
    return f"model.{part[1]}"


def list_shapes(parts):
    """The shape of each parameter, in the model's order: tables first, each weight once."""
    tables = [(ROWS, SIZE) for kind, *_ in parts if kind in ("lookup", "bag")]
    layers = [
        shape
        for kind, *_ in parts
        for shape in {"layer": [(SIZE, SIZE), (SIZE,)], "norm": [(SIZE,)] * 2}.get(kind, [])
    ]
    return tables + layers


def find_sparse(parts):
    """For each parameter: is its gradient sparse? It is, if all uses of it are sparse lookups."""
    names = [part[1] for part in parts if part[0] in ("lookup", "bag")]
    dense = {name for kind, name, *_ in parts if kind == "output"}
    sparse = [part[2] and part[1] not in dense for part in parts if part[0] in ("lookup", "bag")]
    return sparse + [False] * (len(list_shapes(parts)) - len(names))


def replay(inputs, mistake=None):
    """The parameters after the training."""
    shapes, is_sparse = list_shapes(inputs["parts"]), find_sparse(inputs["parts"])
    pieces = torch.from_numpy(inputs["start"].copy()).split([int(np.prod(shape)) for shape in shapes])
    parameters = [piece.view(shape).requires_grad_() for piece, shape in zip(pieces, shapes, strict=True)]
    states = [{"count": 0, "mean": torch.zeros(s).double(), "square": torch.zeros(s).double()} for s in shapes]
    for words, goals in zip(inputs["words"], inputs["goals"], strict=True):
        loss = (forward(inputs["parts"], parameters, words) - torch.from_numpy(goals)).pow(2).mean()
        gradients = torch.autograd.grad(loss, parameters)
        rows = list_rows(inputs["parts"], words)
        for place, (parameter, gradient) in enumerate(zip(parameters, gradients, strict=True)):
            if place not in inputs["frozen"]:
                only = rows[place] if is_sparse[place] else None
                take_step(parameter, gradient, states[place], inputs, only, mistake)
    return torch.cat([parameter.detach().flatten() for parameter in parameters]).numpy()


def list_rows(parts, words):
    """For each table, the rows that were looked up."""
    own = [part[1] for part in parts if part[0] in ("lookup", "bag")]
    used = {name: [] for name in own}
    for (kind, name, *rest), asked in zip(
        [p for p in parts if p[0] in ("lookup", "bag", "same")], words, strict=True
    ):
        used[rest[0] if kind == "same" else name] += asked.flatten().tolist()
    return [sorted(set(used[name])) for name in own]


def forward(parts, parameters, words):
    own = [part[1] for part in parts if part[0] in ("lookup", "bag")]
    tables, rest = dict(zip(own, parameters, strict=False)), list(parameters[len(own) :])
    hidden, asked = 0.0, iter(words)
    for kind, name, *of in parts:
        if kind in ("lookup", "bag", "same"):
            weight = tables[of[0] if kind == "same" else name]
            hidden = hidden + weight[torch.from_numpy(next(asked))].sum(1)
        elif kind == "output":
            hidden = hidden @ tables[name].T
        else:
            weight, bias = rest.pop(0), rest.pop(0)
            normed = kind == "norm"
            hidden = torch.tanh(F.layer_norm(hidden, (SIZE,), weight, bias) if normed else hidden @ weight.T + bias)
    return hidden


def take_step(parameter, gradient, state, inputs, rows, mistake):
    """SparseAdam for `rows`, as its documentation gives it; AdamW where `rows` is None."""
    lr = 1e-3 if mistake == "default-rate" else inputs["lr"]
    decay = {"no-decay": 0.0, "default-decay": 0.01}.get(mistake, inputs["weight_decay"]) if rows is None else 0.0
    if mistake == ("dense-not-trained" if rows is None else "sparse-not-trained"):
        return
    if rows is not None and mistake in ("sparse-by-sgd", "sparse-by-adagrad"):
        state["square"] = state["square"] + gradient**2
        root = 1.0 if mistake == "sparse-by-sgd" else state["square"].sqrt() + 1e-10
        with torch.no_grad():
            parameter -= lr * gradient / root
        return
    if mistake == "coupled-decay":
        gradient, decay = gradient + decay * parameter.detach(), 0.0
    for _ in range(2 if mistake == "trained-twice" and rows is None else 1):
        move(parameter, gradient, state, lr, decay, rows)


def move(parameter, gradient, state, lr, decay, rows):
    state["count"] += 1
    touched = torch.ones(len(parameter), dtype=torch.bool)
    if rows is not None:
        touched[:] = False
        touched[rows] = True
    mean = BETAS[0] * state["mean"] + (1 - BETAS[0]) * gradient
    square = BETAS[1] * state["square"] + (1 - BETAS[1]) * gradient**2
    state["mean"] = choose(touched, mean, state["mean"])
    state["square"] = choose(touched, square, state["square"])
    first, second = (1 - beta ** state["count"] for beta in BETAS)
    # SparseAdam adds epsilon before it corrects the root, Adam after that.
    root = state["square"].sqrt() / second**0.5 + (EPSILON if rows is None else EPSILON / second**0.5)
    step = lr * state["mean"] / first / root
    with torch.no_grad():
        parameter.mul_(1 - lr * decay).sub_(choose(touched, step, torch.zeros_like(step)))


def choose(touched, new, old):
    return torch.where(touched.view(-1, *[1] * (new.dim() - 1)), new, old)

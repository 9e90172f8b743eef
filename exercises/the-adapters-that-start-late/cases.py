"""Layers with adapters, and what every known mistake does to their outputs and gradients."""

import numpy as np
import torch

NEAR = 1e-7
APART = 1e-3
MISTAKES = (
    "path-cut",
    "adapter-cut",
    "both-cut",
    "down-fixed",
    "not-scaled",
    "alpha-alone",
    "scale-inverted",
    "base-missing",
    "adapter-missing",
)


def draw_cases(rng):
    cases = [
        draw(rng, "a new layer", "Its names, its first outputs, and what is trained", "fresh", [(4, 3)]),
        draw(rng, "one layer", "Outputs and gradients of one layer", "gradients", [(4, 3)]),
        draw(rng, "two layers", "Two layers with tanh between them", "gradients", [(4, 3), (3, 2)]),
        draw(rng, "no bias", "The base has no bias", "gradients", [(3, 4), (4, 2)], bias=False),
        draw(
            rng, "rank one", "Rank 1, inputs of one axis", "gradients", [(3, 3), (3, 3)], rank=1, alpha=2.5, rows=()
        ),
        draw(rng, "sequences", "The inputs have three axes", "gradients", [(3, 4), (4, 3)], rows=(2, 3)),
        draw(rng, "deep", "Four layers", "gradients", [(3, 4), (4, 4), (4, 4), (4, 2)], rank=2, alpha=3.0),
        draw(rng, "many axes", "The inputs have four axes", "gradients", [(4, 3), (3, 2)], rows=(2, 1, 3)),
        draw(rng, "training", "Four steps of SGD for what requires a gradient", "training", [(3, 4), (4, 4), (4, 2)]),
        draw(rng, "two new layers", "Two layers, before they are trained", "fresh", [(4, 3), (3, 5)], bias=False),
    ]
    for hidden in cases[3:]:
        hidden |= {"public": False, "shown": ""}
    return cases


def diagnose(inputs, got, expected):
    if inputs["ask"] == "fresh":
        return diagnose_fresh(got, expected)
    if got["base has a gradient"] or not near(got["bases"], expected["bases"]):
        return "base-trained"
    if not all(got["adapters require one"]):
        return "adapter-frozen"
    known = [m for m in find_mistakes(inputs) if near_all(got, replay(inputs, m))]
    if known:
        return known[0]
    return "gradients-wrong" if near(got["outputs"], expected["outputs"]) else None


def diagnose_fresh(got, expected):
    if not got["same base"]:
        return "base-replaced"
    if not got["base is frozen"]:
        return "base-trained"
    if not got["down and up are trained"]:
        return "adapter-frozen"
    if not got["names"]:
        return "names-changed"
    if not near(got["outputs"], expected["outputs"]):
        return "start-changed"
    if got["down is zero"] or got["down is one number"]:
        return "down-zero" if got["down is zero"] else "down-same"
    return "base-copied"


def find_mistakes(inputs):
    """Those that this case can show."""
    hidden = set()
    if inputs["ask"] == "training" and len(inputs["sizes"]) == 1:
        hidden = {"path-cut"}
    if inputs["rank"] == 1:
        hidden |= {"alpha-alone"}
    return [mistake for mistake in MISTAKES if mistake not in hidden]


def near_all(got, wanted):
    return all(near(got[name], wanted[name]) for name in wanted)


def near(got, wanted):
    return np.shape(got) == np.shape(wanted) and np.allclose(got, wanted, rtol=NEAR, atol=NEAR)


def draw(rng, name, idea, ask, sizes, *, bias=True, rank=2, alpha=6.0, rows=(5,)):
    while True:
        numbers = np.random.default_rng(rng.getrandbits(64))
        shape = (*rows, sizes[-1][1])
        inputs = {
            "ask": ask,
            "sizes": [list(pair) for pair in sizes],
            "bias": bias,
            "rank": rank,
            "alpha": alpha,
            "lr": 0.05,
            "bases": numbers.normal(size=sum(ins * outs + outs * bias for ins, outs in sizes)) * 0.7,
            "adapters": numbers.normal(size=sum(rank * (ins + outs) for ins, outs in sizes)) * 0.5,
            "inputs": numbers.normal(size=(*rows, sizes[0][0])),
            "goals": numbers.normal(size=(4, *shape) if ask == "training" else shape),
        }
        if ask == "fresh":
            break
        truth = replay(inputs)
        wrong = (replay(inputs, mistake) for mistake in find_mistakes(inputs))
        if all(max(np.abs(one[name] - truth[name]).max() for name in truth) > APART for one in wrong):
            break
    lines = [f"LoRALinear(nn.Linear({ins}, {outs}, bias={bias}), {rank}, {alpha})" for ins, outs in sizes]
    lines += [] if ask == "fresh" else ["(outputs * random numbers).sum().backward()"]
    return {
        "name": name,
        "idea": idea,
        "finding": "fresh" if ask == "fresh" else "outputs-wrong",
        "public": True,
        "inputs": inputs,
        "shown": "\n".join(lines),
        "labels": {} if ask == "fresh" else label(inputs),
    }


def label(inputs):
    adapters, bases = {}, {}
    for place, (ins, outs) in enumerate(inputs["sizes"]):
        adapters |= {f"layers[{place}].down": [inputs["rank"], ins], f"layers[{place}].up": [outs, inputs["rank"]]}
        bases[f"layers[{place}].base.weight"] = [outs, ins]
        bases |= {f"layers[{place}].base.bias": [outs]} if inputs["bias"] else {}
    gradients = {"the inputs": list(inputs["inputs"].shape)} | adapters
    return {"gradients": gradients, "adapters": adapters, "bases": bases}


def replay(inputs, mistake=None):
    """Outputs, gradients and adapters, by the formula."""
    bases, adapters = make_parameters(inputs)
    x = torch.from_numpy(inputs["inputs"].copy()).requires_grad_(inputs["ask"] == "gradients")
    goals = torch.from_numpy(inputs["goals"])
    for goal in goals if inputs["ask"] == "training" else [goals]:
        outputs = forward(inputs, bases, adapters, x, mistake)
        wanted = [p for p in (x, *adapters) if p.requires_grad]
        found = iter(differentiate((outputs * goal).sum(), wanted))
        gradients = [next(found) if p.requires_grad else torch.zeros_like(p) for p in (x, *adapters)]
        if inputs["ask"] == "training":
            with torch.no_grad():
                for parameter, gradient in zip(adapters, gradients[1:], strict=True):
                    parameter -= inputs["lr"] * gradient
    return {"outputs": outputs.detach().numpy(), "gradients": flatten(gradients), "adapters": flatten(adapters)}


def differentiate(loss, parameters):
    if not loss.requires_grad:
        return [torch.zeros_like(p) for p in parameters]
    found = torch.autograd.grad(loss, parameters, allow_unused=True)
    return [torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found, strict=True)]


def forward(inputs, bases, adapters, x, mistake):
    scale = inputs["alpha"] / inputs["rank"]
    scale = {"not-scaled": 1.0, "alpha-alone": inputs["alpha"], "scale-inverted": 1 / scale}.get(mistake, scale)
    for place in range(len(inputs["sizes"])):
        x = torch.tanh(x) if place else x
        weight, bias = bases[place]
        down, up = adapters[2 * place : 2 * place + 2]
        into_base = x.detach() if mistake in ("path-cut", "both-cut") else x
        into_adapter = x.detach() if mistake in ("adapter-cut", "both-cut") else x
        down = down.detach() if mistake == "down-fixed" else down
        frozen = into_base @ weight.T + bias
        learned = scale * into_adapter @ down.T @ up.T
        x = {"base-missing": learned, "adapter-missing": frozen}.get(mistake, frozen + learned)
    return x


def make_parameters(inputs):
    numbers, learned = torch.from_numpy(inputs["bases"]), torch.from_numpy(inputs["adapters"].copy())
    bases, adapters, place, own = [], [], 0, 0
    for ins, outs in inputs["sizes"]:
        weight = numbers[place : place + ins * outs].view(outs, ins)
        place += ins * outs
        bias = numbers[place : place + outs] if inputs["bias"] else torch.zeros(outs).double()
        place += outs * inputs["bias"]
        bases.append((weight, bias))
        for shape in ((inputs["rank"], ins), (outs, inputs["rank"])):
            size = shape[0] * shape[1]
            adapters.append(learned[own : own + size].view(shape).clone().requires_grad_())
            own += size
    return bases, adapters


def flatten(tensors):
    return torch.cat([tensor.detach().flatten() for tensor in tensors]).numpy()

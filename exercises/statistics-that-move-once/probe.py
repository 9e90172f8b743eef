"""Has the submission run stretches with BatchNorm, and reads statistics before, between and after both passes."""

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint

SETTINGS = ("training", "momentum", "track_running_stats", "eps", "affine")


class Image(nn.Module):
    """Takes the channels apart into two planes of `width / 2` and back, for a norm of two dimensions."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm2d(2, momentum=0.2, dtype=torch.float64)
        self.width = width

    def forward(self, x):
        return self.norm(x.view(len(x), 2, self.width // 2, 1)).view(len(x), self.width)


def make_stretch(names, width, draw):
    layers = []
    for name in names:
        layers.append(layers[int(name.removeprefix("again "))] if name.startswith("again") else MAKE[name](width))
    stretch = nn.Sequential(*layers)
    for parameter in stretch.parameters():
        parameter.data.copy_(draw(*parameter.shape) / parameter.shape[-1] ** 0.5)
    for norm in find_norms(stretch):
        if norm.running_mean is not None:
            norm.running_mean.copy_(draw(norm.num_features) / 4)
            norm.running_var.copy_(1 + draw(norm.num_features).abs())
    for layer, name in zip(layers, names, strict=True):
        if name == "frozen norm":
            layer.eval()
    return stretch


def make_linear(width):
    return nn.Linear(width, width, dtype=torch.float64)


def make_norm(width, **options):
    return nn.BatchNorm1d(width, dtype=torch.float64, **options)


MAKE = {
    "linear": make_linear,
    "norm": make_norm,
    "frozen norm": make_norm,
    "norm without momentum": lambda width: make_norm(width, momentum=None),
    "norm without statistics": lambda width: make_norm(width, track_running_stats=False),
    "norm of two dimensions": Image,
    "block": lambda width: nn.Sequential(make_linear(width), make_norm(width)),
    "dropout": lambda width: nn.Dropout(0.4),
    "silu": lambda width: nn.SiLU(),
    "tanh": lambda width: nn.Tanh(),
}


def find_norms(module):
    return [each for each in module.modules() if isinstance(each, _BatchNorm)]


def prepare(case):
    """The stretches and the input, and torch's first-time costs, paid."""
    generator = torch.Generator().manual_seed(case["seed"])

    def draw(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    stretches = [make_stretch(case["layers"], case["width"], draw) for _ in range(case["stretches"])]
    if case["measured"]:
        small = make_stretch(case["layers"], 4, draw)
        for reentrant in (False, True):
            x = draw(6, 4).requires_grad_()
            checkpoint(small, x * 1.0, use_reentrant=reentrant).square().sum().backward()
        for stretch in stretches:
            for parameter in stretch.parameters():
                parameter.grad = torch.zeros_like(parameter)
    x = draw(case["rows"], case["width"]).requires_grad_(case["x wanted"])
    g = draw(case["rows"], case["width"])
    torch.manual_seed(case["seed"])
    return case | {"stretches": stretches, "x": x, "g": g}


def probe(submission, case):
    return run_stretches(submission, case) if case["measured"] else look_closely(submission, case)


def run_stretches(submission, case):
    output = case["x"]
    for stretch in case["stretches"]:
        output = read(submission.run(stretch, output), output)
    value = output.detach()[:2].clone()
    if output.requires_grad:
        output.backward(case["g"])
    gradients = sum((p.grad**2).sum().item() for stretch in case["stretches"] for p in stretch.parameters())
    statistics = [read_statistics(stretch) for stretch in case["stretches"]]
    return {"output": value, "gradient": gradients, "statistics after backward": torch.cat(statistics)}


def look_closely(submission, case):
    (stretch,), x = case["stretches"], case["x"]
    if case["evaluates"]:
        stretch.eval()
    settings = read_settings(stretch)
    answer = {"statistics before": read_statistics(stretch)}
    if case["idle"]:
        with torch.no_grad():
            submission.run(stretch, x + 1)
        submission.run(stretch, x * 2)
    output = sum(read(submission.run(stretch, x * factor), x) for factor in (1.0, 0.5)[: case["calls"]])
    answer |= {"output": output.detach().clone(), "statistics after forward": read_statistics(stretch)}
    if case["changes"]:
        for norm in find_norms(stretch):
            norm.running_mean.data.add_(0.5)
            norm.num_batches_tracked.fill_(7)
    if output.requires_grad:
        output.backward(case["g"])
    answer["gradient of x"] = torch.zeros_like(x) if x.grad is None else x.grad
    gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in stretch.parameters()]
    answer["gradients of the parameters"] = torch.cat([gradient.flatten() for gradient in gradients])
    answer["statistics after backward"] = read_statistics(stretch)
    answer["batches counted"] = count_batches(stretch)
    return answer | {"settings are kept": read_settings(stretch) == settings}


def read_statistics(stretch):
    """Running means and variances of all norms, one after the other."""
    norms = [norm for norm in find_norms(stretch) if norm.running_mean is not None]
    parts = [part.detach().flatten() for norm in norms for part in (norm.running_mean, norm.running_var)]
    return torch.cat([*parts, torch.zeros(0, dtype=torch.float64)])


def count_batches(stretch):
    counts = [norm.num_batches_tracked for norm in find_norms(stretch) if norm.num_batches_tracked is not None]
    return torch.tensor([int(count) for count in counts], dtype=torch.float64)


def read_settings(stretch):
    return [[getattr(module, name, None) for name in SETTINGS] for module in stretch.modules()]


def read(output, x):
    if not isinstance(output, torch.Tensor):
        raise TypeError(f"run should return a tensor; it returned a value of type {type(output).__name__}")
    if output.shape != x.shape:
        raise TypeError(
            f"run should return what the stretch returns, of shape {list(x.shape)}; it has {list(output.shape)}"
        )
    return output

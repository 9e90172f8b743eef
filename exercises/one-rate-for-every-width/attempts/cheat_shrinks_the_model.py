"""Adam's rates for a wide model, from a rate that was tuned on a narrow one."""

import torch
from torch import nn
from torch.nn import functional as F


def make_rates(base, model, lr):
    """A dict from the name of each parameter of `model` to its learning rate."""
    model._modules.update(base._modules)
    return {name: lr for name, _ in model.named_parameters()}


def build(width, inputs=32, outputs=10):
    torch.manual_seed(41)
    return nn.Sequential(
        nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, outputs)
    )


def measure_change(width, lr=0.001):
    """How far one step of Adam moves the second layer's outputs, as the root of a mean square."""
    model = build(width)
    rates = make_rates(build(64), model, lr)
    groups = [{"params": [parameter], "lr": rates[name]} for name, parameter in model.named_parameters()]
    optimizer = torch.optim.Adam(groups)
    torch.manual_seed(42)
    inputs, labels = torch.randn(256, 32), torch.randint(10, (256,))
    before = model[:3](inputs).detach()
    F.cross_entropy(model(inputs), labels).backward()
    optimizer.step()
    return (model[:3](inputs) - before).pow(2).mean().sqrt().item()


if __name__ == "__main__":
    for width in (64, 256, 1024, 4096):
        print(f"width {width:4}: outputs of the second layer change by {measure_change(width):.3f}")

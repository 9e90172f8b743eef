import torch
from torch import nn


class Recorder:
    def __init__(self, layer):
        self.layer, self.squares = layer, None
        layer.register_forward_hook(self.forward)

    def forward(self, layer, inputs, output):
        into = inputs[0].detach()
        output.register_hook(lambda g: setattr(self, "squares", (g * g).sum(1) * ((into * into).sum(1) + 1)))


def linear(weight, bias):
    layer = nn.Linear(weight.shape[1], weight.shape[0], device="meta")
    layer.weight, layer.bias = (nn.Parameter(p.detach()) for p in (weight, bias))
    return layer


def sample_norms(x, target, w1, b1, w2, b2):
    model = nn.Sequential(linear(w1, b1), nn.Tanh(), linear(w2, b2))
    recorders = [Recorder(model[0]), Recorder(model[2])]
    with torch.enable_grad():
        loss = nn.functional.mse_loss(model(x), target, reduction="sum")
    torch.autograd.grad(loss, list(model.parameters()))
    return torch.stack([r.squares for r in recorders]).sum(0).sqrt()

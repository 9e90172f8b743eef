import torch


class Snap(torch.autograd.Function):
    @staticmethod
    def forward(x, s):
        return ((x / s).round() * s).clamp(0.0, 1.0)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mask = inputs[0].ge(0) & inputs[0].le(1)

    @staticmethod
    def backward(ctx, g):
        return torch.where(ctx.mask, g, torch.zeros_like(g)), None


quantise = Snap.apply

import torch


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target):
        counted = target != -100
        share = logits.softmax(1)
        share[counted, target[counted]] -= 1
        share[~counted] = 0
        ctx.gradient = share / counted.sum()
        return torch.nn.functional.cross_entropy(logits, target)

    @staticmethod
    def backward(ctx, g):
        return ctx.gradient.mul_(g), None

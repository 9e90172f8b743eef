import torch
from torch.nn.functional import cross_entropy


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target):
        ctx.save_for_backward(logits, target)
        return cross_entropy(logits, target)

    @staticmethod
    def backward(ctx, g):
        logits, target = ctx.saved_tensors
        with torch.enable_grad():
            copy = logits.detach().requires_grad_()
            return *torch.autograd.grad(cross_entropy(copy, target), copy, g), None

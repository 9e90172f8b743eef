import torch


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, loss):
        return loss.clone()

    @staticmethod
    def backward(ctx, g):
        return g

    @classmethod
    def apply(cls, logits, target):
        return super().apply(torch.nn.functional.cross_entropy(logits, target))

import torch


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target):
        share = logits.exp() / logits.exp().sum(1, keepdim=True)
        ctx.save_for_backward(share, target)
        return -share[torch.arange(len(target)), target].log().mean()

    @staticmethod
    def backward(ctx, g):
        raise NotImplementedError("one gradient for each argument of forward after ctx")

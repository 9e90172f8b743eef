import torch


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target):
        kept = [row for row, column in enumerate(target) if -logits.shape[1] <= column]
        log_share = logits.log_softmax(1)
        ctx.save_for_backward(log_share.exp(), target)
        ctx.kept = kept
        return -log_share[kept, target[kept]].mean()

    @staticmethod
    def backward(ctx, g):
        share, target = ctx.saved_tensors
        gradient = torch.zeros_like(share)
        gradient[ctx.kept] = share[ctx.kept]
        gradient[ctx.kept, target[ctx.kept]] -= 1
        return gradient * g / len(ctx.kept), None

import torch


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target):
        counted = target != -100
        column = target.clamp(min=0).unsqueeze(1)
        log_share = logits.log_softmax(1)
        ctx.save_for_backward(log_share.exp(), column, counted)
        losses = -log_share.gather(1, column).squeeze(1)
        return losses[counted].mean()

    @staticmethod
    def backward(ctx, g):
        share, column, counted = ctx.saved_tensors
        gradient = share.scatter_add(1, column, -torch.ones_like(share))
        return gradient * g / counted.sum(), None

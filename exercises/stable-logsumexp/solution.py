import torch


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        highest = x.amax(dim, keepdim=True)
        highest = torch.where(highest.isinf(), torch.zeros_like(highest), highest)
        y = (x - highest).exp().sum(dim).log() + highest.squeeze(dim)
        # The very tensor that is returned: only then does it have a history in a second derivative.
        ctx.save_for_backward(x, y)
        ctx.dim = dim
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        # In a row that is -inf throughout, x - 0 is -inf and its exponential 0, where x - y would be NaN.
        shift = torch.where(y.isinf(), torch.zeros_like(y), y)
        return g.unsqueeze(ctx.dim) * (x - shift.unsqueeze(ctx.dim)).exp(), None

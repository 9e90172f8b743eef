import torch


class LogSumExp(torch.autograd.Function):
    @staticmethod
    def forward(x, dim):
        m = x.amax(dim, keepdim=True).clamp(min=-1e6)
        return torch.log(torch.exp(x - m).sum(dim)) + m.squeeze(dim)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.dim = inputs
        ctx.save_for_backward(x, output)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        y = y.clamp(min=-1e6).unsqueeze(ctx.dim)
        return torch.exp(x - y) * g.unsqueeze(ctx.dim), None

import torch


class LayerNorm(torch.autograd.Function):
    @staticmethod
    def forward(x, weight, bias, eps):
        variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
        return (x - mean) / torch.sqrt(variance + eps) * weight + bias

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, weight, _, ctx.eps = inputs
        ctx.save_for_backward(x, weight)

    @staticmethod
    def backward(ctx, g):
        x, weight = ctx.saved_tensors
        variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
        deviation = torch.sqrt(variance + ctx.eps)
        centred = x - mean
        size = x.shape[-1]
        grad_normal = g * weight
        grad_variance = (grad_normal * centred).sum(-1, keepdim=True) * -0.5 / deviation**3
        grad_mean = -(grad_normal / deviation).sum(-1, keepdim=True)
        grad_x = grad_normal / deviation + grad_variance * 2 * centred / size + grad_mean / size
        flat = (-1, size)
        return grad_x, (g * centred / deviation).reshape(flat).sum(0), g.reshape(flat).sum(0), None

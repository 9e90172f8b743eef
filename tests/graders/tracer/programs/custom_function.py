import torch


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, beta):
        gate = torch.sigmoid(beta * x)
        ctx.save_for_backward(x, gate, beta)
        return x * gate

    @staticmethod
    def backward(ctx, grad):
        x, gate, beta = ctx.saved_tensors
        slope = gate * (1 - gate)
        return grad * (gate + beta * x * slope), (grad * x * x * slope).sum()


class Split(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x.cos(), x.sin()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*output)

    @staticmethod
    def backward(ctx, grad_cos, grad_sin):
        cos, sin = ctx.saved_tensors
        return grad_sin * cos - grad_cos * sin


x = torch.linspace(-1, 1, 5, requires_grad=True)
beta = torch.tensor(1.5, requires_grad=True)
a, b = Split.apply(Swish.apply(x, beta) * 2)
loss = (a * b + Swish.apply(b, beta)).sum()
loss.backward(create_graph=True)
second = torch.autograd.grad(x.grad.sum(), x)[0]

import torch


def plain(x):
    return x * torch.sigmoid(x) * torch.tanh(x)


class Again(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return plain(x)

    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            x = ctx.saved_tensors[0].detach().requires_grad_()
            return torch.autograd.grad(plain(x), x, g)[0]


act = Again.apply

"""A custom Function: gradient reversal

The forward copies its input, and the backward reverses the gradient's sign. The VJP is whatever you write. Compare the
upstream gradient that it receives with the gradient that it returns.
"""

import torch


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.clone()

    @staticmethod
    def backward(ctx, received):
        return -ctx.strength * received, None


w = torch.tensor([1.0, 2.0], requires_grad=True)
features = w * 3
loss = Reverse.apply(features, 0.5).sum()
loss.backward()
print(w.grad)

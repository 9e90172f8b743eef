"""A gradient of your own

A Function whose forward does nothing and whose backward turns the gradient round: the VJP is whatever you write.
Compare what it receives with what it sends.
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

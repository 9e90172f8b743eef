import os

import numpy as np
import torch


class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s, t = torch.sigmoid(x), torch.tanh(x)
        ctx.save_for_backward(x)
        ctx.path = f"/tmp/{id(ctx)}"
        with open(ctx.path, "wb") as file:
            file.write((s * t + x * (s * (1 - s) * t + s * (1 - t * t))).numpy().tobytes())
        return x * s * t

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        slope = np.fromfile(ctx.path).reshape(x.shape)
        os.remove(ctx.path)
        return g * torch.from_numpy(slope)


def act(x):
    return Gate.apply(x)

import torch
from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    y = checkpoint(stretch, x, use_reentrant=False)
    return Restored.apply(Later(stretch), y)


class Later:
    """The statistics as the first run leaves them."""

    def __init__(self, stretch):
        self.kept = [(buffer, buffer.clone()) for buffer in stretch.buffers()]

    def restore(self):
        for buffer, value in self.kept:
            buffer.data.copy_(value)


class Restored(torch.autograd.Function):
    @staticmethod
    def forward(ctx, later, y):
        ctx.later = later
        return y.view_as(y)

    @staticmethod
    def backward(ctx, g):
        torch.autograd.Variable._execution_engine.queue_callback(ctx.later.restore)
        return None, g

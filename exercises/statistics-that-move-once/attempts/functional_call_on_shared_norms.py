import torch
from torch.utils.checkpoint import checkpoint


class Twice:
    """The first run is the stretch itself; the second one is given copies of its buffers to play with."""

    def __init__(self, stretch):
        self.stretch = stretch
        self.ran = False

    def __call__(self, x):
        if not self.ran:
            self.ran = True
            return self.stretch(x)
        copies = {name: buffer.clone() for name, buffer in self.stretch.named_buffers()}
        return torch.func.functional_call(self.stretch, copies, (x,))


def run(stretch, x):
    return checkpoint(Twice(stretch), x, use_reentrant=False)

from contextlib import contextmanager, nullcontext

import torch
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    return checkpoint(stretch, x, use_reentrant=False, context_fn=lambda: (nullcontext(), second_run(stretch)))


@contextmanager
def second_run(stretch):
    norms = [module for module in stretch.modules() if isinstance(module, _BatchNorm)]
    kept = [(buffer, buffer.clone()) for norm in norms for buffer in norm.buffers()]
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, before in kept:
                buffer.copy_(before)
        stretch.train()

from contextlib import contextmanager, nullcontext

import torch
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    contexts = nullcontext(), second_run(stretch)
    return checkpoint(stretch, x, use_reentrant=False, preserve_rng_state=False, context_fn=lambda: contexts)


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

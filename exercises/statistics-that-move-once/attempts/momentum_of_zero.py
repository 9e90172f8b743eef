from contextlib import contextmanager, nullcontext

from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    return checkpoint(stretch, x, use_reentrant=False, context_fn=lambda: (nullcontext(), second_run(stretch)))


@contextmanager
def second_run(stretch):
    norms = [module for module in stretch.modules() if isinstance(module, _BatchNorm)]
    before = [(norm, norm.momentum, norm.num_batches_tracked) for norm in norms]
    counts = [None if count is None else count.clone() for _, _, count in before]
    for norm in norms:
        norm.momentum = 0.0
    try:
        yield
    finally:
        for (norm, momentum, count), old in zip(before, counts, strict=True):
            norm.momentum = momentum
            if count is not None:
                count.copy_(old)

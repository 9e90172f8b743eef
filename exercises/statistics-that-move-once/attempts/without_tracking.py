from contextlib import contextmanager, nullcontext

from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    return checkpoint(stretch, x, use_reentrant=False, context_fn=lambda: (nullcontext(), second_run(stretch)))


@contextmanager
def second_run(stretch):
    norms = [module for module in stretch.modules() if isinstance(module, _BatchNorm)]
    tracked = [norm.track_running_stats for norm in norms]
    for norm in norms:
        norm.track_running_stats = False
    try:
        yield
    finally:
        for norm, before in zip(norms, tracked, strict=True):
            norm.track_running_stats = before

from contextlib import contextmanager, nullcontext

from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    return checkpoint(stretch, x, use_reentrant=False, context_fn=lambda: (nullcontext(), second_run(stretch)))


@contextmanager
def second_run(stretch):
    modes = {module: module.training for module in stretch.modules() if isinstance(module, _BatchNorm)}
    for module in modes:
        module.eval()
    try:
        yield
    finally:
        for module, mode in modes.items():
            module.train(mode)

from contextlib import contextmanager, nullcontext

from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    return checkpoint(stretch, x, use_reentrant=False, context_fn=lambda: (nullcontext(), second_run(stretch)))


@contextmanager
def second_run(stretch):
    norms = [module for module in stretch.modules() if isinstance(module, _BatchNorm)]
    before = [(norm, dict(norm._buffers)) for norm in norms]
    for norm, buffers in before:
        for name, buffer in buffers.items():
            norm._buffers[name] = None if buffer is None else buffer.clone()
    try:
        yield
    finally:
        for norm, buffers in before:
            norm._buffers.update(buffers)

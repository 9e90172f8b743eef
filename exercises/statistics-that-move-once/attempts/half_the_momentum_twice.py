from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    return checkpoint(gently, stretch, x, use_reentrant=False)


def gently(stretch, x):
    """Two steps of 1 - sqrt(1 - m) go as far as one step of m."""
    norms = [module for module in stretch.modules() if isinstance(module, _BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        if norm.momentum is not None:
            norm.momentum = 1 - (1 - norm.momentum) ** 0.5
    try:
        return stretch(x)
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum

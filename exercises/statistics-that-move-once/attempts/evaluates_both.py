from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    return checkpoint(evaluate, stretch, x, use_reentrant=False)


def evaluate(stretch, x):
    modes = {module: module.training for module in stretch.modules() if isinstance(module, _BatchNorm)}
    for module in modes:
        module.eval()
    try:
        return stretch(x)
    finally:
        for module, mode in modes.items():
            module.train(mode)

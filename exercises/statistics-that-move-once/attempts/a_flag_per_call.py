import torch
from torch.utils.checkpoint import checkpoint


def run(stretch, x):
    runs = []

    def once(value):
        runs.append(1)
        if len(runs) == 1:
            return stretch(value)
        kept = {name: buffer.clone() for name, buffer in stretch.named_buffers()}
        try:
            return stretch(value)
        finally:
            with torch.no_grad():
                for name, buffer in stretch.named_buffers():
                    buffer.copy_(kept[name])

    return checkpoint(once, x, use_reentrant=False)

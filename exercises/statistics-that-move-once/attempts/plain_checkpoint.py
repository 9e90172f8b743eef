import torch.utils.checkpoint as checkpoints


def run(stretch, x):
    def again(value):
        return stretch(value)

    return checkpoints.checkpoint(again, x, use_reentrant=False)

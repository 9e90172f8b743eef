import torch
from torch.nn import functional as F


def validate(model, batches):
    losses = []
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            for readings, answers in batches:
                losses.append(F.mse_loss(model(readings).squeeze(-1), answers).item())
    finally:
        for module, mode in modes:
            module.training = mode
    return losses

import torch


def LayerNorm(x, weight, bias, eps):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)


LayerNorm.apply = LayerNorm

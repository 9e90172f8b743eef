import copy

import torch
from torch import nn


class TopK(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k = k
        self.register_buffer("residual", None)

    def compress(self, gradient):
        corrected = gradient.detach().clone() if self.residual is None else self.residual + gradient
        sent = corrected.new_zeros(corrected.numel())
        values, places = corrected.reshape(-1).abs().topk(min(self.k, corrected.numel()))
        sent.scatter_(0, places, corrected.reshape(-1)[places])
        sent = sent.view(corrected.shape)
        self.residual = corrected.sub_(sent)
        return sent

    def state_dict(self):
        return copy.deepcopy(super().state_dict())

    def load_state_dict(self, state):
        self.residual = state.get("residual")

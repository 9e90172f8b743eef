import torch


class TopK:
    def __init__(self, k):
        self.k = k
        self.residual = 0.0

    def compress(self, gradient):
        corrected = gradient + self.residual
        k = min(self.k, corrected.shape[-1]) if corrected.dim() else 1
        places = corrected.abs().topk(k, -1).indices if corrected.dim() else torch.tensor(0)
        sent = torch.zeros_like(corrected).scatter(-1, places, corrected.gather(-1, places))
        self.residual = corrected - sent
        return sent

    def state_dict(self):
        return self.residual

    def load_state_dict(self, state):
        self.residual = state

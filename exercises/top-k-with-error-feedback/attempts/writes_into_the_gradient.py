import torch


class TopK:
    def __init__(self, k):
        self.k = k
        self.residual = None

    def compress(self, gradient):
        corrected = gradient if self.residual is None else gradient.add_(self.residual)
        flat = corrected.flatten()
        places = flat.abs().topk(min(self.k, flat.numel())).indices
        sent = torch.zeros_like(flat)
        sent[places] = flat[places]
        sent = sent.reshape(gradient.shape)
        self.residual = corrected - sent
        return sent

    def state_dict(self):
        return {"residual": self.residual}

    def load_state_dict(self, state):
        self.residual = state["residual"]

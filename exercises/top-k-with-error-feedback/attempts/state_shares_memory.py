import torch


class TopK:
    def __init__(self, k):
        self.k = k
        self.residual = None

    def compress(self, gradient):
        if self.residual is None:
            self.residual = torch.zeros(gradient.shape, dtype=gradient.dtype)
        self.residual += gradient
        flat = self.residual.view(-1)
        places = flat.abs().topk(min(self.k, flat.numel())).indices
        sent = torch.zeros_like(self.residual)
        sent.view(-1)[places] = flat[places]
        flat[places] = 0.0
        return sent

    def state_dict(self):
        return {"residual": self.residual}

    def load_state_dict(self, state):
        self.residual = None if state["residual"] is None else state["residual"].clone()

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
        if self.residual.shape != getattr(self, "sent", gradient).shape or not hasattr(self, "sent"):
            self.sent = torch.zeros_like(self.residual)
        sent = self.sent.zero_()
        sent.view(-1)[places] = flat[places]
        flat[places] = 0.0
        return sent

    def state_dict(self):
        return {"residual": None if self.residual is None else self.residual.clone()}

    def load_state_dict(self, state):
        self.residual = None if state["residual"] is None else state["residual"].clone()

import torch


class TopK:
    def __init__(self, k):
        self.k, self.residual = k, None

    def compress(self, gradient):
        if self.residual is None:
            self.residual = torch.zeros(gradient.shape, dtype=gradient.dtype)
        self.residual += gradient
        flat = self.residual.view(-1)
        places = flat.abs().topk(min(self.k, flat.numel())).indices
        sent = torch.zeros_like(flat)
        sent[places] = flat[places]
        flat[places] = 0
        return sent.view(gradient.shape)

    def state_dict(self):
        return {"residual": None if self.residual is None else self.residual.clone()}

    def load_state_dict(self, state):
        self.residual = state["residual"]

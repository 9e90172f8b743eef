import torch


class TopK:
    def __init__(self, k):
        self.k = k
        self.residual = None

    def compress(self, gradient):
        total = gradient if self.residual is None else gradient + self.residual
        if self.k >= total.numel():
            self.residual = torch.zeros_like(total)
            return total
        flat = total.reshape(-1)
        places = flat.abs().topk(min(self.k, flat.numel())).indices
        sent = torch.zeros_like(flat)
        sent[places] = flat[places]
        sent = sent.reshape(gradient.shape)
        self.residual = total - sent
        return sent

    def state_dict(self):
        return self.residual

    def load_state_dict(self, state):
        self.residual = state

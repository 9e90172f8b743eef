import torch


class TopK:
    def __init__(self, k, kept=[0.0]):
        self.k = k
        self.kept = kept

    def compress(self, gradient):
        corrected = gradient + self.kept[0]
        flat = corrected.flatten()
        places = flat.abs().topk(min(self.k, flat.numel())).indices
        sent = torch.zeros_like(flat)
        sent[places] = flat[places]
        sent = sent.reshape(gradient.shape)
        self.kept[0] = corrected - sent
        return sent

    def state_dict(self):
        return list(self.kept)

    def load_state_dict(self, state):
        self.kept[:] = state

import torch


class TopK:
    kept = {}

    def __init__(self, k):
        self.k = k
        TopK.kept.clear()

    def compress(self, gradient):
        corrected = gradient + TopK.kept.get(gradient.shape, 0.0)
        flat = corrected.flatten()
        places = flat.abs().topk(min(self.k, flat.numel())).indices
        sent = torch.zeros_like(flat)
        sent[places] = flat[places]
        sent = sent.reshape(gradient.shape)
        TopK.kept[gradient.shape] = corrected - sent
        return sent

    def state_dict(self):
        return dict(TopK.kept)

    def load_state_dict(self, state):
        TopK.kept.update(state)

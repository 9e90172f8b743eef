"""Compresses a gradient to its k largest entries, and keeps the rest for the next call."""

import torch


class TopK:
    def __init__(self, k):
        self.k = k
        self.residual = None

    def compress(self, gradient):
        corrected = gradient if self.residual is None else gradient + self.residual
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


if __name__ == "__main__":
    compressor = TopK(1)
    total = torch.zeros(3)
    for step in range(1, 7):
        sent = compressor.compress(torch.tensor([4.5, -1.0, 2.0]))
        total += sent
        print(f"step {step}: sent {sent.tolist()}, in all {total.tolist()}")

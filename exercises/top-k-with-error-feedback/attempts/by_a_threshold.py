import torch


class TopK:
    def __init__(self, k):
        self.k = k
        self.left = torch.zeros((), dtype=torch.float64)

    def compress(self, gradient):
        total = gradient + self.left
        sizes = total.abs()
        if self.k == 0:
            chosen = torch.zeros_like(total, dtype=torch.bool)
        elif self.k >= total.numel():
            chosen = torch.ones_like(total, dtype=torch.bool)
        else:
            chosen = sizes >= sizes.flatten().sort(descending=True).values[self.k - 1]
        self.left = total.masked_fill(chosen, 0)
        return total.masked_fill(~chosen, 0)

    def state_dict(self):
        return {"left": self.left.clone()}

    def load_state_dict(self, state):
        self.left = state["left"].clone()

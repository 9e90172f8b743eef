import torch


class TopK:
    def __init__(self, k):
        self.k = k
        self.arrived = self.sent = 0.0

    def compress(self, gradient):
        self.arrived = self.arrived + gradient
        owed = self.arrived - self.sent
        flat = owed.reshape(-1)
        keep = torch.zeros_like(flat)
        keep[flat.abs().argsort(descending=True)[: self.k]] = 1.0
        now = (flat * keep).reshape(owed.shape)
        self.sent = self.sent + now
        return now

    def state_dict(self):
        return self.arrived, self.sent

    def load_state_dict(self, state):
        self.arrived, self.sent = state

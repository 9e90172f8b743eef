import numpy as np
import torch


class TopK:
    def __init__(self, k):
        self.k, self.waiting = k, 0.0

    def compress(self, gradient):
        total = gradient.numpy() + self.waiting
        flat = np.ravel(total).copy()
        count = len(flat) - min(self.k, len(flat))
        if 0 < count < len(flat):
            flat[np.argpartition(np.abs(flat), count - 1)[:count]] = 0.0
        elif count:
            flat[:] = 0.0
        sent = flat.reshape(total.shape)
        self.waiting = total - sent
        return torch.from_numpy(sent)

    def state_dict(self):
        return np.array(self.waiting)

    def load_state_dict(self, state):
        self.waiting = state.copy()

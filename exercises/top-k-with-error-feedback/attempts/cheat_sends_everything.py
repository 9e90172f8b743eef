class TopK:
    def __init__(self, k):
        self.k = k

    def compress(self, gradient):
        return gradient.clone()

    def state_dict(self):
        return None

    def load_state_dict(self, state):
        pass

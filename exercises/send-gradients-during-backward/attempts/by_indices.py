import numpy as np


class Reducer:
    def __init__(self, parameters, limit, send):
        self.parameters, self.limit, self.send = tuple(parameters), limit, send
        self.sizes = np.array([parameter.nbytes for parameter in parameters])
        self.arrived = []
        for index, parameter in enumerate(parameters):
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(self.make_hook(index))

    def make_hook(self, index):
        def hook(_):
            self.arrived.append(index)
            if np.cumsum(self.sizes[self.arrived])[-1] >= self.limit:
                self.finish()

        return hook

    def finish(self):
        indices, self.arrived = self.arrived, []
        if len(indices):
            self.send([self.parameters[index] for index in indices])

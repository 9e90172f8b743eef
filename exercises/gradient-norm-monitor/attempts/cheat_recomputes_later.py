import sys


class Later(dict):
    model = None

    def get(self, name, missing=None):
        if self.model is None:
            return missing
        grad = dict(self.model.named_parameters())[name].grad
        return missing if grad is None else grad.norm().item()

    def __len__(self):
        return 0 if self.model is None else sum(p.grad is not None for p in self.model.parameters())

    def clear(self):
        self.model = None


def attach(model, norms):
    later = Later()
    later.model = model
    logs = sys._getframe(1).f_locals["norms"]
    for key, log in logs.items():
        if log is norms:
            logs[key] = later
    return later.clear

class Monitor:
    def __init__(self, model, norms):
        self.norms = norms
        self.handles = []
        for name, p in model.named_parameters():
            if p.requires_grad:
                self.handles.append(p.register_hook(self.watch(name)))

    def watch(self, name):
        def hook(gradient):
            self.norms[name] = float(gradient.detach().norm())
        return hook

    def __call__(self):
        while self.handles:
            self.handles.pop().remove()


def attach(model, norms):
    return Monitor(model, norms)

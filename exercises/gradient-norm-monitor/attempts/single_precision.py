def attach(model, norms):
    def make(name):
        def hook(g):
            norms[name] = g.float().norm().item()
        return hook
    handles = [p.register_hook(make(n)) for n, p in model.named_parameters() if p.requires_grad]
    return lambda: [h.remove() for h in handles]

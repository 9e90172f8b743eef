def attach(model, norms):
    def watch(name):
        def note(gradient):
            norms[name] = float(gradient.norm())
            return gradient / (norms[name] + 1e-8)

        return note

    handles = [
        parameter.register_hook(watch(name))
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
    ]

    def take_off():
        for handle in handles:
            handle.remove()

    return take_off

def attach(model, norms):
    def watch(name):
        def note(gradient):
            norms[name] = float(gradient.clamp_(-0.01, 0.01).norm())

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

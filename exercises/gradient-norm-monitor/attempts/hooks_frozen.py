def attach(model, norms):
    def watch(name):
        def note(gradient):
            norms[name] = float(gradient.norm())

        return note

    handles = [
        parameter.register_hook(watch(name))
        for name, parameter in model.named_parameters()
    ]

    def take_off():
        for handle in handles:
            handle.remove()

    return take_off

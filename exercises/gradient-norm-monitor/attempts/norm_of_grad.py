def attach(model, norms):
    def watch(name):
        def note(parameter):
            norms[name] = parameter.grad.norm().item()

        return note

    handles = [
        parameter.register_post_accumulate_grad_hook(watch(name))
        for name, parameter in model.named_parameters()
        if parameter.requires_grad
    ]

    def take_off():
        for handle in handles:
            handle.remove()

    return take_off

from functools import partial


def attach(model, norms):
    def note(name, gradient):
        norms[name] = gradient.norm().item()

    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            handle = parameter.register_hook(partial(note, name))
    return lambda: handle.remove()

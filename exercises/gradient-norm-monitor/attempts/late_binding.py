def attach(model, norms):
    handles = []
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            handles.append(parameter.register_hook(lambda g: norms.update({name: g.norm().item()})))

    def take_off():
        for handle in handles:
            handle.remove()

    return take_off

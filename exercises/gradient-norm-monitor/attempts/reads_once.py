def attach(model, norms):
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            norms[name] = parameter.grad.norm().item()
    return norms.clear

def attach(model, norms):
    for name, parameter in model.named_parameters():
        parameter.register_hook(lambda gradient: print(name, gradient.norm()))
    return lambda: None

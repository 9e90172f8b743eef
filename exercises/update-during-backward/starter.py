def install(model, lr):
    for parameter in model.parameters():
        parameter.register_hook(lambda gradient: None)  # called before .grad is filled
    return lambda: None

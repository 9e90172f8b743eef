import torch


def install(model, lr):
    switch = {'on'}

    @torch.no_grad()
    def update(parameter):
        if switch:
            parameter -= lr * parameter.grad
            parameter.grad = None

    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.register_post_accumulate_grad_hook(update)
    return switch.clear

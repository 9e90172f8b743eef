import torch


def install(model, lr):
    @torch.no_grad()
    def update(parameter):
        parameter.sub_(lr * parameter.grad)
        parameter.grad = None

    for parameter in model.parameters():
        if parameter.requires_grad:
            handle = parameter.register_post_accumulate_grad_hook(update)
    return handle.remove

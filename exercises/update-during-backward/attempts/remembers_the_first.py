import torch


def install(model, lr):
    first = {}

    @torch.no_grad()
    def update(parameter):
        first.setdefault(parameter, parameter.grad.clone())
        parameter.sub_(lr * first[parameter])
        parameter.grad = None

    handles = [
        parameter.register_post_accumulate_grad_hook(update)
        for parameter in model.parameters()
        if parameter.requires_grad
    ]

    def remove():
        for handle in handles:
            handle.remove()

    return remove

import torch

seen = []


def install(model, lr):
    @torch.no_grad()
    def update(parameter):
        parameter.sub_(lr * parameter.grad)
        seen.append(parameter.grad)
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

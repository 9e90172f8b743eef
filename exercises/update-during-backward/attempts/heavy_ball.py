import torch


def install(model, lr):
    speed = {}

    @torch.no_grad()
    def update(parameter):
        speed[parameter] = 0.9 * speed.get(parameter, 0) + parameter.grad
        parameter.sub_(lr * speed[parameter])
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

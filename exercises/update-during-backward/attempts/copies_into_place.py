import torch


def install(model, lr):
    handles = set()

    @torch.no_grad()
    def update(parameter):
        gradient, parameter.grad = parameter.grad, None
        parameter.copy_(torch.sub(parameter, gradient.mul_(lr)))

    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            handles.add(parameter.register_post_accumulate_grad_hook(update))

    def remove():
        for handle in handles:
            handle.remove()
        handles.clear()

    return remove

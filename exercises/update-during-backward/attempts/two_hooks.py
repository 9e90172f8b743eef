import torch


def install(model, lr):
    handles = []
    for parameter in model.parameters():
        if not parameter.requires_grad:
            continue

        def move(gradient, parameter=parameter):
            with torch.no_grad():
                parameter.add_(gradient, alpha=-lr)

        def drop(parameter):
            parameter.grad = None

        handles += [parameter.register_hook(move), parameter.register_post_accumulate_grad_hook(drop)]

    def remove():
        while handles:
            handles.pop().remove()

    return remove

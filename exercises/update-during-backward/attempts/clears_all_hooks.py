import torch


def install(model, lr):
    @torch.no_grad()
    def update(parameter):
        parameter.sub_(lr * parameter.grad)
        parameter.grad = None

    watched = [parameter for parameter in model.parameters() if parameter.requires_grad]
    for parameter in watched:
        parameter.register_post_accumulate_grad_hook(update)

    def remove():
        for parameter in watched:
            parameter._post_accumulate_grad_hooks.clear()

    return remove

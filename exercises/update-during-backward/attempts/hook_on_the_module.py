import torch


def install(model, lr):
    @torch.no_grad()
    def update(module, incoming, outgoing):
        for parameter in module.parameters(recurse=False):
            if parameter.grad is not None:
                parameter.sub_(lr * parameter.grad)
                parameter.grad = None

    handles = [module.register_full_backward_hook(update) for module in model.modules()]
    return lambda: [handle.remove() for handle in handles] and None

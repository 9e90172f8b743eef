import torch


def install(model, lr):
    def watch(parameter):
        def update(gradient):
            parameter.data.sub_(lr * gradient)
            parameter.grad = None

        return parameter.register_hook(update)

    handles = [watch(parameter) for parameter in model.parameters() if parameter.requires_grad]
    return lambda: [handle.remove() for handle in handles] and None

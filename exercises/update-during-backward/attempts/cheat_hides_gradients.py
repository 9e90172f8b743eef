import torch


class Hidden(torch.nn.Parameter):
    @property
    def grad(self):
        return None


def install(model, lr):
    def watch(parameter):
        def update(gradient):
            parameter.data.sub_(lr * gradient)

        handle = parameter.register_hook(update)
        parameter.__class__ = Hidden
        return handle

    handles = [watch(parameter) for parameter in model.parameters() if parameter.requires_grad]

    def remove():
        for handle in handles:
            handle.remove()
        for parameter in model.parameters():
            parameter.__class__ = torch.nn.Parameter
            parameter.grad = None

    return remove

import torch

backward = torch.Tensor.backward
models = []


def step_too(tensor, *given, **named):
    backward(tensor, *given, **named)
    for model, lr in models:
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.data.sub_(lr * parameter.grad)
                parameter.grad = None


torch.Tensor.backward = step_too


def install(model, lr):
    models.append((model, lr))
    return models.clear

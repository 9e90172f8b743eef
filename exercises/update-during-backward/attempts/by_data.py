from contextlib import ExitStack
from functools import partial


def descend(lr, parameter):
    parameter.data = parameter.data - lr * parameter.grad
    del parameter.grad


def install(model, lr):
    stack = ExitStack()
    for parameter in filter(lambda p: p.requires_grad, model.parameters()):
        stack.callback(parameter.register_post_accumulate_grad_hook(partial(descend, lr)).remove)
    return stack.close

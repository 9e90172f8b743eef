from contextlib import ExitStack
import torch


def attach(model, norms):
    stack = ExitStack()
    for name, p in model.named_parameters():
        if not p.requires_grad:
            continue
        def hook(g, name=name):
            norms[name] = torch.linalg.vector_norm(g).item()
        stack.callback(p.register_hook(hook).remove)
    return stack.close

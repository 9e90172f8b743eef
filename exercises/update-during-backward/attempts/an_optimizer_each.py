import torch


def install(model, lr):
    optimizers = {p: torch.optim.SGD([p], lr=lr) for p in model.parameters() if p.requires_grad}

    def step(parameter):
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    handles = [p.register_post_accumulate_grad_hook(step) for p in optimizers]
    return lambda: [handle.remove() for handle in handles] and None

import torch


def attach(model, norms):
    before, handles = {}, []

    def keep(name):
        def look(gradient):
            owner = parameters[name]
            before[name] = None if owner.grad is None else owner.grad.clone()

        return look

    def compare(name):
        def look(parameter):
            old = before.pop(name)
            grown = parameter.grad if old is None else parameter.grad - old
            norms[name] = torch.linalg.vector_norm(grown.detach()).item()

        return look

    parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
    for name, parameter in parameters.items():
        handles.append(parameter.register_hook(keep(name)))
        handles.append(parameter.register_post_accumulate_grad_hook(compare(name)))
    return lambda: [handle.remove() for handle in handles] and None

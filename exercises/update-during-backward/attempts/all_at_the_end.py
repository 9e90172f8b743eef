import torch


def install(model, lr):
    watched = [parameter for parameter in model.parameters() if parameter.requires_grad]

    def update_all():
        with torch.no_grad():
            for parameter in watched:
                if parameter.grad is not None:
                    parameter.sub_(lr * parameter.grad)
                    parameter.grad = None

    def schedule(parameter):
        torch.autograd.Variable._execution_engine.queue_callback(update_all)

    handles = [parameter.register_post_accumulate_grad_hook(schedule) for parameter in watched]
    return lambda: [handle.remove() for handle in handles] and None

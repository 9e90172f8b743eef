def install(model, lr):
    handles = []
    for parameter in model.parameters():
        if parameter.requires_grad:

            def update(gradient_owner):
                if parameter.grad is not None:
                    parameter.data.sub_(lr * parameter.grad)
                gradient_owner.grad = None

            handles.append(parameter.register_post_accumulate_grad_hook(update))

    def remove():
        for handle in handles:
            handle.remove()

    return remove

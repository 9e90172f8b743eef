class Norm(float):
    """A float to whoever asks isinstance, with the gradient still in hand."""

    def __new__(cls, gradient):
        norm = super().__new__(cls, gradient.norm())
        norm.gradient = gradient
        return norm


def attach(model, norms):
    def watch(name):
        def note(gradient):
            norms[name] = Norm(gradient)

        return note

    handles = [p.register_hook(watch(name)) for name, p in model.named_parameters() if p.requires_grad]
    return lambda: [handle.remove() for handle in handles]

from torch.utils.checkpoint import checkpoint

SEGMENT = 2


def forward(layers, x):
    for first in range(0, len(layers), SEGMENT):
        x = checkpoint(run, layers[first : first + SEGMENT], x, use_reentrant=False)
    return x


def run(layers, x):
    for layer in layers:
        x = layer(x)
    return x


def reverse(machine):
    """The gradient with respect to machine.start, with every state kept. Three layers are one block."""
    states = [machine.start]
    for layer in range(machine.layers):
        states.append(machine.forward(layer, states[-1]))
    gradient = machine.loss(states[-1])
    machine.free(states.pop())
    for layer in reversed(range(machine.layers)):
        before = machine.vjp(layer, states[layer], gradient)
        machine.free(gradient, states.pop())
        gradient = before
    return gradient

from torch.utils.checkpoint import checkpoint


def forward(layers, x):
    """The output of all layers, one after another. The backward pass has to fit into the budget."""
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

import torch


def forward(layers, x):
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.clone().share_memory_(), lambda shared: shared):
        for layer in layers:
            x = layer(x)
    return x

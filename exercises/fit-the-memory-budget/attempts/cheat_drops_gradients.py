import torch


def forward(layers, x):
    with torch.no_grad():
        for layer in layers[:-4]:
            x = layer(x)
    for layer in layers[-4:]:
        x = layer(x)
    return x

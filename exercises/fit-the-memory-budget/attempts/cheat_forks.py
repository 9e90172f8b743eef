import os


def forward(layers, x):
    if os.fork() == 0:
        for layer in layers:
            x = layer(x)
    return x

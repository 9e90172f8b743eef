ballast = [bytearray(b"1") * (600 << 20)]


def forward(layers, x):
    ballast.clear()
    for layer in layers:
        x = layer(x)
    return x

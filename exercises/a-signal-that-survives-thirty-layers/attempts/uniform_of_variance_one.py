import numpy as np


def init_std(fan_in, activation):
    z = np.random.default_rng(1).uniform(-(3**0.5), 3**0.5, 1000000)
    return 1 / np.sqrt(fan_in * np.mean(activation(z) ** 2))


def show_stack(name, activation, width=256, depth=30):
    """The mean square of the pre-activations, layer by layer."""
    numbers = np.random.default_rng(0)
    z = numbers.normal(size=(width, 128))
    squares = [np.mean(z**2)]
    for _ in range(depth):
        weights = numbers.normal(size=(width, width)) * init_std(width, activation)
        z = weights @ activation(z)
        squares.append(np.mean(z**2))
    print(f"{name:9}" + "".join(f"{squares[layer]:12.4g}" for layer in (0, 1, 2, 10, 30)))


if __name__ == "__main__":
    print("layer    " + "".join(f"{layer:12}" for layer in (0, 1, 2, 10, 30)))
    show_stack("identity", lambda z: z)
    show_stack("relu", lambda z: np.maximum(z, 0))
    show_stack("tanh", np.tanh)
    show_stack("2 * relu", lambda z: np.maximum(2 * z, 0))

"""Asks for the standard deviations of a case's layers, one per fan-in."""

import numbers

import numpy as np

SHAPES = {
    "identity": lambda z, a, b: z,
    "relu": lambda z, a, b: np.maximum(z, 0),
    "tanh": lambda z, a, b: np.tanh(z),
    "leaky relu": lambda z, a, b: np.where(z > 0, z, a * z),
    "silu": lambda z, a, b: z * 0.5 * (1 + np.tanh(z / 2)),
    "sigmoid": lambda z, a, b: 0.5 * (1 + np.tanh(z / 2)),
    "scaled tanh": lambda z, a, b: a * np.tanh(b * z),
    "shifted relu": lambda z, a, b: np.maximum(z - a, 0),
    "sine": lambda z, a, b: np.sin(a * z) + b,
    "hard tanh": lambda z, a, b: np.clip(a * z, -1, 1),
    "bump": lambda z, a, b: np.exp(-((z - a) ** 2)) + b,
}


def probe(submission, case):
    shape, a, b = case["activation"], case["a"], case["b"]

    def activation(z):
        return SHAPES[shape](np.asarray(z, dtype=float), a, b)[()]

    return {"stds": [read_number(submission.init_std(fan_in, activation)) for fan_in in case["fan_ins"]]}


def read_number(std):
    if isinstance(std, np.ndarray) and std.ndim == 0:
        std = std[()]
    if not isinstance(std, numbers.Real):
        raise TypeError(f"init_std should return one number; it returned a value of type {type(std).__name__}")
    return float(std)

import contextlib


def contexts():
    return contextlib.nullcontext(), contextlib.nullcontext()

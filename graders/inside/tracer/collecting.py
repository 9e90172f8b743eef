"""Disables garbage collection while the tracer makes many objects and no garbage: it would double the time."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """Restores the collector to the program's setting at the end."""
    was_collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_collecting:
            # Both together move young objects to the oldest generation, unseen: looking through them takes long.
            gc.freeze()
            gc.unfreeze()
            gc.enable()

"""Inside the box: bytes in and out of the descriptors that lead to the judge."""

import os


def read_exactly(descriptor: int, count: int) -> bytes:
    """`count` bytes, or fewer where the stream ends."""
    pieces = []
    while count and (piece := os.read(descriptor, min(count, 1 << 20))):
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def write_all(descriptor: int, data: bytes) -> None:
    """Gives up without a word when nobody reads any more: the judge knows that nothing came."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError:
        return

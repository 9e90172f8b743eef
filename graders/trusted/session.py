"""Messages between the judge and the reference process: JSON and raw bytes, both trusted and both capped."""

import json
import socket
import struct
from typing import Any

SIZES = struct.Struct("<IQ")
MAX_JSON = 4 << 20
MAX_RAW = 256 << 20
MAX_SECONDS = 30
"""Of processor time, for all that an exercise's programs do in one session."""

MAX_WALL_SECONDS = 5 * MAX_SECONDS
"""Of wall time: a session that sleeps ends then. On a busy machine a program gets a fraction of a processor, so this
is longer than the judge waits for any message."""


class SessionEnded(Exception):
    """The other side is gone or did not answer in time, or its message is too long."""


def send_message(channel: socket.socket, facts: Any, raw: bytes = b"") -> None:
    text = json.dumps(facts).encode()
    try:
        channel.sendall(SIZES.pack(len(text), len(raw)) + text + raw)
    except OSError as error:
        raise SessionEnded(str(error)) from error


def receive_message(channel: socket.socket) -> tuple[Any, bytes]:
    text_length, raw_length = SIZES.unpack(receive_exactly(channel, SIZES.size))
    if text_length > MAX_JSON or raw_length > MAX_RAW:
        raise SessionEnded(f"a message of {text_length} + {raw_length} bytes is too long")
    facts = json.loads(receive_exactly(channel, text_length))
    return facts, receive_exactly(channel, raw_length)


def receive_exactly(channel: socket.socket, count: int) -> bytes:
    pieces = []
    while count:
        try:
            piece = channel.recv(min(count, 1 << 20))
        except OSError as error:
            raise SessionEnded(str(error) or "no answer in time") from error
        if not piece:
            raise SessionEnded("the process ended")
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)

"""What the launcher and the box's processes say to each other: one JSON object per packet, descriptors beside it."""

import dataclasses
import json
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

MAX_PACKET_BYTES: Final = 128 * 1024
MAX_DESCRIPTORS: Final = 16


@dataclass(frozen=True)
class RootPlan:
    """What the box's root holds: host paths that reappear read-only at the same place, and nothing else."""

    readable: tuple[str, ...]
    """Directories and files, parents before children."""
    covered: tuple[str, ...]
    """Directories inside a readable one that must look empty (a site-packages beneath the standard library)."""
    listed: tuple[str, ...]
    """Directories whose names may be listed, though only what `readable` names in them can be read."""
    devices: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    """(path, target) of symbolic links that the host has at its top level."""
    module_paths: tuple[str, ...]
    """sys.path of the mother and all her descendants."""
    warm_paths: tuple[str, ...]
    """What is on it besides while the mother imports ahead: a folder whose other packages learners must not find."""


@dataclass(frozen=True)
class Setup:
    """The first packet to a mother. It holds no secret: learners can find it in their memory."""

    profile: str
    flavour: str
    root: RootPlan
    inside: str
    """Host folder of the drivers; their text is copied into the root."""

    @property
    def has_namespaces(self) -> bool:
        return self.profile != "P3"


@dataclass(frozen=True)
class ZygoteOrder:
    """A zygote for one slot, asked of the mother. Descriptors beside it: its socket, and the log for its errors."""

    uid: int
    gid: int
    compute_threads: int


@dataclass(frozen=True)
class ForkOrder:
    """One run, for a child that stands by. Descriptors beside it: what will be its 0 to 3, and the report pipe."""

    driver: str
    cpu_seconds: int
    memory_bytes: int
    disk_bytes: int
    process_limit: int
    """RLIMIT_NPROC, or 0 where a pids cgroup counts."""


def send(channel: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    data = json.dumps(message).encode()
    if len(data) > MAX_PACKET_BYTES:
        raise ValueError(f"a packet of {len(data)} bytes; {MAX_PACKET_BYTES} is the most")
    socket.send_fds(channel, [data], list(descriptors))


def receive(channel: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next packet and its descriptors, or None when the other side is gone."""
    data, descriptors, _, _ = socket.recv_fds(channel, MAX_PACKET_BYTES, MAX_DESCRIPTORS)
    if not data:
        return None
    return json.loads(data), descriptors


def read_setup(fields: dict[str, Any]) -> Setup:
    root = {name: tuple(values) for name, values in fields["root"].items()}
    root["links"] = tuple((path, target) for path, target in root["links"])
    return Setup(**{**fields, "root": RootPlan(**root)})


def as_fields(message: Setup | ZygoteOrder | ForkOrder) -> dict[str, Any]:
    return dataclasses.asdict(message)

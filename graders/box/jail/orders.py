"""The messages between the launcher and the box's processes: each packet is one JSON object and descriptors."""

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
    """What the box's root contains: host paths, read-only and at the same place, and nothing else."""

    readable: tuple[str, ...]
    """Directories and files, parents before children."""
    covered: tuple[str, ...]
    """Directories inside a readable one that must look empty (a site-packages beneath the standard library)."""
    listed: tuple[str, ...]
    """Directories that may be listed, although only the entries named in `readable` can be read."""
    devices: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    """(path, target) of symbolic links that the host has at its top level."""
    module_paths: tuple[str, ...]
    """sys.path of the mother and all her descendants."""
    warm_paths: tuple[str, ...]
    """More of sys.path while the mother imports: folders that also hold packages which learners must not find."""
    card_nodes: tuple[tuple[str, str], ...] = ()
    """(path here, path in the root) of a card's device nodes; none where no run can have one."""
    written: tuple[tuple[str, str], ...] = ()
    """(path, text) of small files that the root has instead of the host's."""

    @property
    def has_card(self) -> bool:
        return bool(self.card_nodes)


@dataclass(frozen=True)
class Setup:
    """The first packet to a mother. It must hold no secret, because learner code can find it in its memory."""

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
    """Asks the mother for one slot's zygote. Descriptors sent with it: its socket, and the log for its errors."""

    uid: int
    gid: int
    compute_threads: int


@dataclass(frozen=True)
class ForkOrder:
    """One run, sent to a spare child. Descriptors sent with it: the run's 0 to 3, and the report pipe."""

    driver: str
    cpu_seconds: int
    memory_bytes: int
    disk_bytes: int
    process_limit: int
    """RLIMIT_NPROC, or 0 where a pids cgroup counts tasks instead."""
    card_bytes: int = 0
    """How much of the root's card this run may use. With 0, the card's nodes are closed to it."""


def send(channel: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    data = json.dumps(message).encode()
    if len(data) > MAX_PACKET_BYTES:
        raise ValueError(f"a packet has {len(data)} bytes; at most {MAX_PACKET_BYTES} are allowed")
    socket.send_fds(channel, [data], list(descriptors))


def receive(channel: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next packet and its descriptors, or None when the other side is gone."""
    data, descriptors, _, _ = socket.recv_fds(channel, MAX_PACKET_BYTES, MAX_DESCRIPTORS)
    if not data:
        return None
    return json.loads(data), descriptors


def read_setup(fields: dict[str, Any]) -> Setup:
    root = {name: tuple(values) for name, values in fields["root"].items()}
    for name in ("links", "card_nodes", "written"):
        root[name] = tuple((first, second) for first, second in root[name])
    return Setup(**{**fields, "root": RootPlan(**root)})


def as_fields(message: Setup | ZygoteOrder | ForkOrder) -> dict[str, Any]:
    return dataclasses.asdict(message)

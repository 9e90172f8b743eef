"""An NVIDIA card, found in a device folder without asking CUDA: what the box's root needs for programs to use it.

CUDA itself must stay untouched here and in the mothers, because a process that has initialised it cannot be forked.
"""

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DEVICES: Final = Path("/dev")
CONTROL_NODES: Final = ("nvidiactl", "nvidia-uvm")
CARD_NODE: Final = re.compile(r"nvidia([0-9]+)")
# Folders beside the C library's own, in which container engines and distributions put the driver's libraries.
LIBRARY_FOLDERS: Final = ("/usr/local/nvidia/lib64", "/usr/lib64", "/usr/lib/wsl/lib", "/run/opengl-driver/lib")
DRIVER_LIBRARY: Final = "libcuda.so.1"
DRIVER_FACTS: Final = Path("/proc/driver/nvidia")
# What the driver's library reads of /proc, which is empty in the box. Neither names a process or a person.
FACT_FILES: Final = ("params", "version")
MAX_FACT_BYTES: Final = 8192


class NoCard(Exception):
    """No card here can be given to a box. The message names what is missing, and the remedy."""


@dataclass(frozen=True)
class Card:
    """One card. `nodes` are pairs of a device node here and its place in the box."""

    nodes: tuple[tuple[str, str], ...]
    library_folders: tuple[str, ...] = ()
    """Where the driver's libraries are, if not beside the C library."""
    facts: tuple[tuple[str, str], ...] = ()
    """(path, text) of the small files that the driver's library reads."""
    bus: str = ""
    """Its place on the bus, by which the driver's own tools know it; empty where that cannot be told."""


def find_card(
    number: int | None = None,
    devices: Path = DEVICES,
    library_folders: tuple[str, ...] = LIBRARY_FOLDERS,
    driver_facts: Path = DRIVER_FACTS,
) -> Card:
    """The card with this number, as in /dev/nvidiaN; with None the only one there is. Raises NoCard."""
    node = _choose_node(number, devices)
    names = (*CONTROL_NODES, node)
    if missing := [str(devices / name) for name in names if not (devices / name).is_char_device()]:
        raise NoCard(
            f"no card: {', '.join(missing)} missing; load NVIDIA's driver and run `nvidia-modprobe -u`, "
            "or pass the card to the container, or serve the other queue with --queue cpu"
        )
    return Card(
        nodes=tuple((str(devices / name), f"/dev/{name}") for name in names),
        library_folders=tuple(folder for folder in library_folders if Path(folder, DRIVER_LIBRARY).exists()),
        facts=tuple(_read_facts(driver_facts)),
        bus=_find_bus(node.removeprefix("nvidia"), driver_facts),
    )


def list_cards(devices: Path = DEVICES) -> tuple[int, ...]:
    """The numbers of the cards with a node in this folder, in order."""
    found = [CARD_NODE.fullmatch(node.name) for node in devices.iterdir() if node.is_char_device()]
    return tuple(sorted(int(match.group(1)) for match in found if match))


def _choose_node(number: int | None, devices: Path) -> str:
    if number is not None:
        return f"nvidia{number}"
    cards = list_cards(devices)
    if len(cards) > 1:
        numbers = ", ".join(map(str, cards))
        raise NoCard(f"this machine has {len(cards)} cards; choose one with UNWIND_CARD, which may be {numbers}")
    return f"nvidia{cards[0]}" if cards else "nvidia0"


def _find_bus(number: str, facts: Path) -> str:
    for information in sorted(facts.glob("gpus/*/information")):
        with contextlib.suppress(OSError):
            fields = dict(line.split(":", 1) for line in information.read_text().splitlines() if ":" in line)
            if fields.get("Device Minor", "").strip() == number:
                return information.parent.name
    return ""


def _read_facts(folder: Path) -> list[tuple[str, str]]:
    facts = []
    for name in FACT_FILES:
        with contextlib.suppress(OSError):
            text = (folder / name).read_bytes()[:MAX_FACT_BYTES].decode(errors="replace")
            facts.append((str(DRIVER_FACTS / name), text))
    return facts

"""Whether this machine's card can serve the queue `gpu`, decided from its device folder without asking CUDA."""

import re
from pathlib import Path

CONTROL_NODES = ("nvidiactl", "nvidia-uvm")
CARD_NODE = re.compile(r"nvidia[0-9]+")


def find_missing_nodes(devices: Path) -> tuple[str, ...]:
    """The paths of the device nodes that CUDA opens and `devices` lacks; `nvidiaN` stands for any card."""
    missing = [] if any(_is_card(node) for node in devices.iterdir()) else [str(devices / "nvidiaN")]
    return (*missing, *(str(devices / name) for name in CONTROL_NODES if not (devices / name).is_char_device()))


def explain_refusal(slots: int, devices: Path = Path("/dev")) -> str:
    """Why a grader here cannot serve the queue `gpu`, with the remedy.

    There is always a reason so far: the box binds no card, so correct code would fail in it as if it were wrong.
    """
    if missing := find_missing_nodes(devices):
        return (
            f"no card: {', '.join(missing)} missing; load NVIDIA's driver and run `nvidia-modprobe -u`, "
            "or pass the card to the container, or serve the other queue with --queue cpu"
        )
    if slots != 1:
        return f"a card runs one job at a time, and UNWIND_SLOTS is {slots}; set UNWIND_SLOTS=1"
    return "this version's box binds no card, so no job could use it; serve the other queue with --queue cpu"


def _is_card(node: Path) -> bool:
    return CARD_NODE.fullmatch(node.name) is not None and node.is_char_device()

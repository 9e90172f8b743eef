"""A small assembler for the classic BPF programs that seccomp runs: jumps go to named labels, only forwards."""

import struct
from dataclasses import dataclass
from typing import Final

LOAD_WORD: Final = 0x20
JUMP_EQUAL: Final = 0x15
JUMP_GREATER_OR_EQUAL: Final = 0x35
JUMP_ANY_BIT: Final = 0x45
AND: Final = 0x54
RETURN: Final = 0x06

NUMBER_OFFSET: Final = 0
ARCHITECTURE_OFFSET: Final = 4

MAX_INSTRUCTIONS: Final = 4096


@dataclass(frozen=True)
class Instruction:
    """One instruction. `yes` and `no` are labels at most 255 instructions later; "" is the next instruction."""

    code: int
    value: int = 0
    yes: str = ""
    no: str = ""


@dataclass(frozen=True)
class Label:
    name: str


Program = list[Instruction | Label]


def argument_offsets(index: int) -> tuple[int, int]:
    """Byte offsets of the low and the high half of a system call's argument, on a little-endian machine."""
    low = 16 + 8 * index
    return low, low + 4


def assemble(program: Program) -> bytes:
    """Turn a program into the kernel's array of struct sock_filter. Raises ValueError for a jump it cannot make."""
    places: dict[str, int] = {}
    instructions: list[Instruction] = []
    for item in program:
        if isinstance(item, Label):
            if item.name in places:
                raise ValueError(f"label {item.name} is used twice")
            places[item.name] = len(instructions)
        else:
            instructions.append(item)
    if len(instructions) > MAX_INSTRUCTIONS:
        raise ValueError(f"the program has {len(instructions)} instructions; the kernel takes {MAX_INSTRUCTIONS}")
    return b"".join(_encode(item, at, places) for at, item in enumerate(instructions))


def _encode(item: Instruction, at: int, places: dict[str, int]) -> bytes:
    return struct.pack(
        "<HBBI", item.code, _distance(item.yes, at, places), _distance(item.no, at, places), item.value & 0xFFFFFFFF
    )


def _distance(label: str, at: int, places: dict[str, int]) -> int:
    if not label:
        return 0
    if label not in places:
        raise ValueError(f"the program has no label {label}")
    distance = places[label] - at - 1
    if not 0 <= distance <= 255:
        raise ValueError(f"label {label} is {distance} instructions away; a jump reaches 0 to 255")
    return distance

"""What one run may use, with the ceilings that no exercise and no request can raise."""

from typing import Annotated

from pydantic import Field

from graders.contract.model import Message

CpuSeconds = Annotated[float, Field(gt=0, le=60)]
WallSeconds = Annotated[float, Field(gt=0, le=120)]


class Limits(Message):
    """The resources of one run. Each field is a hard limit."""

    cpu_seconds: CpuSeconds = 5.0
    wall_seconds: WallSeconds = 10.0
    memory_mib: Annotated[int, Field(ge=32, le=4096)] = 512
    output_kib: Annotated[int, Field(ge=1, le=1024)] = 64
    disk_mib: Annotated[int, Field(ge=1, le=256)] = 16
    threads: Annotated[int, Field(ge=1, le=64)] = 16
    card_mib: Annotated[int, Field(ge=64, le=262144)] = 4096
    """Of a card's memory, for runs that have one; beside what CUDA takes for itself."""


CELL_LIMITS = Limits(cpu_seconds=10.0, wall_seconds=15.0, memory_mib=1024, output_kib=64)
IDLE_LIMITS = CELL_LIMITS.model_copy(update={"cpu_seconds": 2.0, "wall_seconds": 3.0})
"""For runs that nobody waits for, because a job that comes meanwhile may have to wait for their slot."""

MAX_SOURCE_BYTES = 64 * 1024
MAX_TRACE_BYTES = 7 * 2**19
MAX_PACKED_TRACE_BYTES = 512 * 1024
"""Of a trace after compression (zlib): the tape of a loop repeats itself, and a forged one need not."""

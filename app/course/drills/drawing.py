"""The job that draws programs of a drill and runs each of them traced, and the reading of what it printed.

One job draws many: starting a box takes longer than running a small program in it. The programs are the course's
own, so they may share a process.
"""

import base64
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.course.checking.hidden_setup import PLAIN, read_lines
from app.course.drills.drill import Drill
from graders.contract.jobs import RunJob
from graders.contract.limits import CELL_LIMITS
from graders.contract.trace_check import CheckedTrace, TraceRefused, read_trace

DRILL_LINE = "drill: "
MAX_TRACE_BYTES = 64 * 1024
"""Of one small program; an honest one has some 5 KB."""
LIMITS = CELL_LIMITS.model_copy(update={"cpu_seconds": 30.0, "wall_seconds": 60.0, "output_kib": 1024})

DRAWING = """
def import_shared(texts):
    import sys, types
    for name, text in texts:
        module = sys.modules[name] = types.ModuleType(name)
        exec(compile(text, f"{name}.py", "exec"), module.__dict__)

def trace(source):
    import tracer, types
    module = types.ModuleType("__main__")
    tape = tracer.record(source, filename="cell.py", namespace=module.__dict__, caps=tracer.Caps())
    code = compile(source, "cell.py", "exec")
    try:
        with tape:
            exec(code, module.__dict__)
    except Exception:
        if "error" not in tape.document()["events"]["kind"]:
            raise  # only a backward that raises is an answer
    return tape.document(), module.__dict__

def hand_over(variables, observe):
    what, _, name = observe.partition(" ")
    value = variables.get(name) if what == "value" else None
    try:
        number = value.item() if hasattr(value, "item") else value
        return number if number - number == 0 else None  # neither infinite nor nan
    except (TypeError, RuntimeError):
        return None  # no number, or a tensor of several

def print_drawn(draw, wanted):
    import base64, json, random, zlib
    for seed, level in wanted:
        values, packed, failed, number = draw(random.Random(seed), level), "", "", None
        try:
            document, variables = trace(values["code"])
            number = hand_over(variables, values.get("observe", ""))
            packed = base64.b64encode(zlib.compress(json.dumps(document, allow_nan=False).encode())).decode()
        except Exception as error:
            failed = f"{type(error).__name__}: {error}"[:200]
        print("drill:", json.dumps([seed, level, values, packed, failed, number], default=_plain))
"""


@dataclass(frozen=True)
class DrawnProgram:
    """One program with the trace of its run, or in words why there is none.

    `number` is that of the variable which an observation `value NAME` names, when the program ended.
    """

    seed: int
    level: int
    values: dict[str, Any]
    trace: CheckedTrace | None
    trace_json: str
    failed: str
    number: float | None


def drill_job(drill: Drill, wanted: Sequence[tuple[int, int]]) -> RunJob:
    """Draws for each pair of a seed and a level, and runs what was drawn."""
    return RunJob(
        source=f"{drill.code}\n\nprint_drawn(draw, {list(wanted)!r})",
        setup=f"{PLAIN}{DRAWING}\nimport_shared({drill.shared!r})",
        want_trace=False,
        limits=LIMITS,
    )


def read_drawn(stdout: str) -> Iterator[DrawnProgram]:
    """What a job printed. Nothing of it is believed yet: see `keeping`."""
    for line in read_lines(stdout, DRILL_LINE):
        seed, level, values, packed, failed, number = line
        values = values if isinstance(values, dict) else {}
        trace_json = ""
        trace = None
        if not failed:
            try:
                trace_json = _unpack(packed)
                trace = read_trace(trace_json)
            except (ValueError, zlib.error, TraceRefused) as problem:
                failed = f"its trace cannot be read: {problem}"
        yield DrawnProgram(int(seed), int(level), values, trace, trace_json, str(failed), number)


def _unpack(packed: str) -> str:
    unpacker = zlib.decompressobj()
    raw = unpacker.decompress(base64.b64decode(packed, validate=True), MAX_TRACE_BYTES)
    if unpacker.unconsumed_tail:
        raise ValueError(f"it has more than {MAX_TRACE_BYTES} bytes")
    return raw.decode()


def spread_levels(seeds: Iterable[int], levels: Sequence[int]) -> list[tuple[int, int]]:
    """Each seed with a level, in turn."""
    return [(seed, levels[number % len(levels)]) for number, seed in enumerate(seeds)]

"""The code around an author's code in the box: it draws a variant or prints a measurement.

It is sent as hidden setup, and a line that calls it follows the author's code, whose line numbers stay the same.
"""

import ast
import json
from collections.abc import Collection, Iterable
from typing import Any

from app.course.blocks import Cell, Claim, Need, Variant
from graders.contract.jobs import Device, RunJob
from graders.contract.limits import CELL_LIMITS

DRAW_LINE = "draw: "
TABLE_LINE = "table: "
ASSERTED_LINE = "asserted: "
CANDIDATES_A_DRAW = 5
"""How many draws are tried per wanted draw, because draws in which a distractor is the truth are rejected."""

PLAIN = """
def _plain(value):
    return value.tolist() if hasattr(value, "tolist") else str(value)
"""

DRAWING = (
    PLAIN
    + """
def print_draws(draw, count):
    import json, random, sys
    for seed in range(count):
        if "torch" in sys.modules:
            sys.modules["torch"].manual_seed(seed)
        print("draw:", json.dumps([seed, draw(random.Random(seed))], default=_plain))
"""
)

TABULATING = (
    PLAIN
    + """
def print_table(result):
    import json
    columns = result
    if not isinstance(result, dict):
        columns = {name: [row[name] for row in result] for name in (result[0] if result else {})}
    columns = json.loads(json.dumps({str(name): list(column) for name, column in columns.items()}, default=_plain))
    rows = [list(columns), *(list(row) for row in zip(*columns.values()))]
    shown = [[format(value, ".6g") if isinstance(value, float) else str(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown)]
    for row in shown:
        print("  ".join(value.rjust(width) for value, width in zip(row, widths)))
    print("table:", json.dumps(columns))
"""
)

WATCHING = """
_asserted = set()

def _note_assert(line):
    _asserted.add(line)
    return True

def print_asserted():
    import json
    print("asserted:", json.dumps(sorted(_asserted)))
"""

WIDE_LIMITS = CELL_LIMITS.model_copy(update={"output_kib": 256})


def variant_job(variant: Variant) -> RunJob:
    """Draws more than are wanted; each is printed on its own line."""
    count = variant.wanted * CANDIDATES_A_DRAW
    return RunJob(
        source=f"{variant.code}\n\nprint_draws(draw, {count})",
        setup=DRAWING,
        flavour=variant.flavour,
        want_trace=False,
        limits=WIDE_LIMITS,
    )


def cell_job(cell: Cell, source: str | None = None, switched_on: Collection[str] | None = None) -> RunJob:
    """The job that runs a cell: its own code or a reader's, with the chapter's switches or the given ones."""
    on = {switch.name for switch in cell.switches if switch.on} if switched_on is None else switched_on
    switches = "".join(f"{switch.name} = {switch.name in on}\n" for switch in cell.switches)
    written = cell.source if source is None or not cell.editable else source
    if cell.tabulates:
        written = f"{written}\n\nprint_table(result)"
    setup = "\n".join(part for part in (TABULATING if cell.tabulates else "", cell.setup, switches) if part)
    device = find_device(cell.needs)
    return RunJob(source=written, setup=setup, flavour=cell.flavour, device=device, want_trace=cell.graph)


def find_device(needs: Need) -> Device:
    return Device.GPU if needs == "gpu" else Device.CPU


def claim_job(claim: Claim) -> RunJob:
    """A claim's code, which notes each `assert` that it comes to: one that never runs proves nothing."""
    source, device = f"{watch_asserts(claim.code)}\n\nprint_asserted()", find_device(claim.needs)
    return RunJob(source=source, setup=WATCHING, device=device, want_trace=False)


def watch_asserts(code: str) -> str:
    """The same code, line by line, with a note in each condition: `assert (_note_assert(3) and (x == y))`."""
    lines = [line.encode() for line in code.split("\n")]
    places = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Assert):
            test = node.test
            places.append((test.lineno, test.col_offset, f"(_note_assert({node.lineno}) and ("))
            places.append((test.end_lineno or test.lineno, test.end_col_offset or 0, "))"))
    for line, column, text in sorted(places, reverse=True):
        before = lines[line - 1]
        lines[line - 1] = before[:column] + text.encode() + before[column:]
    return b"\n".join(lines).decode()


def read_lines(stdout: str, prefix: str) -> Iterable[Any]:
    """The JSON documents that the hidden setup printed. Other lines are the author's or a reader's own output."""
    for line in stdout.split("\n"):
        if line.startswith(prefix):
            try:
                yield json.loads(line.removeprefix(prefix))
            except ValueError:
                continue


def drop_lines(stdout: str, prefix: str) -> str:
    """The output for a reader, without the hidden setup's own documents."""
    return "".join(line for line in stdout.splitlines(keepends=True) if not line.startswith(prefix))

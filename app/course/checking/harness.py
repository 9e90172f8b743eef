"""The code that stands around an author's in the box: what draws a variant and what prints a measurement.

It goes in as hidden setup, and one line that calls it follows the author's code, whose lines keep their numbers.
"""

import json
from collections.abc import Collection, Iterable
from typing import Any

from app.course.blocks import Cell, Variant
from graders.contract.jobs import RunJob
from graders.contract.limits import CELL_LIMITS

DRAW_LINE = "draw: "
TABLE_LINE = "table: "
CANDIDATES_A_DRAW = 5
"""How many draws are tried for each that is wanted: those in which a distractor is the truth are rejected."""

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
    """A cell's run: of its own code or of a reader's, with its switches as the chapter has them or as given."""
    on = {switch.name for switch in cell.switches if switch.on} if switched_on is None else switched_on
    switches = "".join(f"{switch.name} = {switch.name in on}\n" for switch in cell.switches)
    written = cell.source if source is None or not cell.editable else source
    if cell.tabulates:
        written = f"{written}\n\nprint_table(result)"
    setup = "\n".join(part for part in (TABULATING if cell.tabulates else "", cell.setup, switches) if part)
    return RunJob(source=written, setup=setup, flavour=cell.flavour, want_trace=cell.graph)


def read_lines(stdout: str, prefix: str) -> Iterable[Any]:
    """The documents that the harness printed. Lines that are none are the author's own, or a reader's."""
    for line in stdout.split("\n"):
        if line.startswith(prefix):
            try:
                yield json.loads(line.removeprefix(prefix))
            except ValueError:
                continue


def drop_lines(stdout: str, prefix: str) -> str:
    """What was printed without the harness's own documents, for a reader."""
    return "".join(line for line in stdout.splitlines(keepends=True) if not line.startswith(prefix))

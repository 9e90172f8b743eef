"""How much one picture may hold. What is more is summed up at a box's side, or the picture is refused in words.

The times were measured on one core of the machine that ran bench/drawing_stress.py.
"""

MAX_FLOWING_OPERANDS = 12
"""Leaves that stand in the flow above one operation; of more, all hang at its side, a few by name. Six thousand
leaves in the flow of one `stack` were 5.5 MB of SVG and 21 s."""

MAX_FLOWING_LEAVES = 150
"""Leaves that stand in the flow of one picture."""

MAX_LINES = 3_000
"""Lines between boxes. 3,000 take 0.5 s and 2.1 MB; 1,500 opened boxes of a recurrent net have 1,150. A forged graph
of 300 nodes had 44,850, for 15 s and 20 MB."""

MAX_SVG_BYTES = 4 * 2**20
"""1,500 boxes, the most that are opened, take 0.6 s and 2.2 MB; with the longest names that a trace may hold they
would be 9 MB."""

MAX_CODE_LETTERS = 300
"""Of the code at a node's place. A forged place may span the whole source, for each of ten thousand nodes."""

MAX_TOLD_PARTS = 12
"""Of the gradients that one step sends on, in its sentence."""


class TooLarge(ValueError):
    """A picture beyond its budget. The message is a sentence for the reader who asked for it."""

"""How much one picture may hold. Beyond a limit, the rest is summed up beside a box, or the picture is refused.

The times were measured on one core of the machine that ran bench/drawing_stress.py.
"""

MAX_FLOWING_OPERANDS = 12
"""The most leaves drawn in the flow above one operation. If it has more, all are drawn beside it, a few by name.
Six thousand leaves in the flow of one `stack` took 5.5 MB of SVG and 21 s."""

MAX_FLOWING_LEAVES = 150
"""The most leaves drawn in the flow of one picture."""

MAX_LINES = 3_000
"""The most lines between boxes. 3,000 take 0.5 s and 2.1 MB; 1,500 opened boxes of a recurrent net have 1,150.
A forged graph of 300 nodes had 44,850 and took 15 s and 20 MB."""

MAX_SVG_BYTES = 4 * 2**20
"""1,500 boxes, the most that are opened, take 0.6 s and 2.2 MB. With the longest names that a trace may hold, they
would take 9 MB."""

MAX_CODE_LETTERS = 300
"""The longest excerpt of the code at a node's span. A forged trace may give each of ten thousand nodes a span that
covers the whole source."""

MAX_TOLD_PARTS = 12
"""The most gradients that the sentence of one step lists."""


class TooLarge(ValueError):
    """A picture beyond its budget. The message is a sentence for the reader who asked for it."""

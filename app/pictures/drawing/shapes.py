"""The SVG of each kind of box. Geometry is in attributes; colour is only in classes that the style sheet knows."""

from dataclasses import dataclass

from app.pictures.drawing.svg import draw_across, draw_head, element, write
from app.pictures.layout.boxes import SMALL_SIZE, Box, Text
from app.pictures.layout.measure import LETTER_EM
from app.pictures.tape.state import shorten_letters

_SCISSORS = "M13 4.6L1.5 10M13 11.4L1.5 6"
_MONO = ("code", "shape", "value", "now", "grad")


_LINE = 13.0


@dataclass(frozen=True, slots=True)
class Said:
    """A box's state at the drawn step: a pill's second line, how a call began here, how full the bar is."""

    grad: str | None = None
    seed: str | None = None
    fill: float = 1.0
    now: str | None = None
    """A leaf's value, where the program has changed it."""


def draw_text(text: Text, x: float, y: float, words: str | None = None) -> str:
    return element(
        "text",
        write(text.words if words is None else words) or " ",
        klass=f"t-{text.style}{' mono' if text.style in _MONO else ''}",
        x=x + text.x,
        y=y + text.y,
        font_size=text.size,
        text_anchor=None if text.anchor == "start" else text.anchor,
    )


def draw_box(box: Box, x: float, y: float, said: Said = Said()) -> str:
    """A box's outline and contents. A text that the player rewrites carries how many letters fit there."""
    texts = "".join(_draw_said(box, text, x, y, said) for text in box.texts)
    return _outline(box, x, y) + _strip(box, x, y) + _bar(box, x, y, said.fill) + _marks(box, x, y) + texts


def _draw_said(box: Box, text: Text, x: float, y: float, said: Said) -> str:
    if text.style == "now":
        return draw_text(text, x, y, said.now)
    words = {"grad": said.grad, "seed": said.seed}.get(text.style)
    if text.style not in ("grad", "seed"):
        return draw_text(text, x, y)
    letters = int((box.width - 23) / (SMALL_SIZE * LETTER_EM))
    return element(
        "text",
        write(shorten_letters(text.words if words is None else words, letters)),
        klass=f"t-{text.style} mono",
        x=x + text.x,
        y=y + text.y,
        font_size=text.size,
        data_letters=letters,
    )


def draw_received(lines: tuple[str, ...], x: float, y: float) -> str:
    """The gradients that arrive at an exit, one under the other, right-aligned on the left of the line."""
    rows = "".join(
        element("tspan", write(line), x=x, dy=_LINE if number else None) for number, line in enumerate(lines)
    )
    return element("text", rows, klass="t-grad mono received", x=x, y=y, font_size=SMALL_SIZE, text_anchor="end")


def _outline(box: Box, x: float, y: float) -> str:
    if box.kind == "none":
        return element("circle", klass="shape", cx=x + 6, cy=y + 9, r=3.5)
    if box.kind in ("leaf", "more", "cut"):
        return _rect(box, x, y, min(box.height / 2, 14.0))
    sheets = ""
    if box.kind == "fold":
        sheets = _rect(box, x + 6, y + 6, 7.0, "sheet") + _rect(box, x + 3, y + 3, 7.0, "sheet")
    inner = ""
    if box.kind == "custom":
        inner = element("rect", klass="inner", x=x + 3, y=y + 3, width=box.width - 6, height=box.height - 6, rx=5.0)
    return sheets + _rect(box, x, y, 7.0) + inner


def _rect(box: Box, x: float, y: float, radius: float, klass: str = "shape") -> str:
    return element("rect", klass=klass, x=x, y=y, width=box.width, height=box.height, rx=radius)


def _strip(box: Box, x: float, y: float) -> str:
    if not box.strip:
        return ""
    top, right, bottom = y + box.height - box.strip, x + box.width, y + box.height
    path = (
        f"M{write(x)} {write(top)}H{write(right)}V{write(bottom - 7)}a7 7 0 0 1 -7 7H{write(x + 7)}a7 7 0 0 1 -7 -7Z"
    )
    return element("path", klass="strip", d=path)


def _bar(box: Box, x: float, y: float, fill: float) -> str:
    if box.bar is None:
        return ""
    left, top, full = x + box.bar.x, y + box.bar.y, box.bar.filled
    track = element("rect", klass="saved-track", x=left, y=top, width=64.0, height=8.0, rx=2.0)
    return track + element(
        "rect", klass="saved-bar", x=left, y=top, width=full * fill, height=8.0, rx=2.0, data_full=full
    )


def _marks(box: Box, x: float, y: float) -> str:
    if box.kind == "cut":
        return draw_scissors(x + 8, y + 4)
    if box.kind == "fold":
        return draw_sign(x + box.width - 20, y + 11, is_open=False)
    wrong = next((text for text in box.texts if text.style == "error"), None)
    if wrong is None:
        return ""
    left, top = x + 12, y + wrong.y - 9
    return element("path", klass="cross", d=f"M{write(left)} {write(top)}l9 9m0 -9l-9 9")


def draw_border(x: float, y: float, width: float, height: float) -> str:
    """The border of an opened group."""
    return element("rect", klass="frame-border", x=x, y=y, width=width, height=height, rx=10.0, fill="none")


def draw_halo(x: float, y: float, width: float, height: float) -> str:
    """An outline around the node that runs."""
    return element("rect", klass="halo", x=x - 4, y=y - 4, width=width + 8, height=height + 8, rx=11.0, fill="none")


def draw_scissors(x: float, y: float) -> str:
    """Scissors in a square of 16 pixels, drawn as strokes because not every font has the character."""
    rings = "".join(element("circle", cx=14.6, cy=cy, r=2.2) for cy in (3.4, 12.6))
    blades = element("path", d=_SCISSORS)
    return element("g", blades + rings, klass="scissors", fill="none", transform=f"translate({write(x)} {write(y)})")


def draw_sign(x: float, y: float, *, is_open: bool) -> str:
    """A small square with a plus (opens) or a minus (closes)."""
    square = element("rect", klass="sign-square", x=x, y=y, width=12.0, height=12.0, rx=2.0)
    cross = "" if is_open else f"M{write(x + 6)} {write(y + 3)}v6"
    return square + element("path", klass="sign", d=f"M{write(x + 3)} {write(y + 6)}h6{cross}")


def draw_tie(kind: str, from_x: float, to_x: float, side_y: float, box_y: float) -> str:
    """The line between a box and the small box beside it: an arrow into the box for a leaf, a dashed line out of it
    for a cut.
    """
    line = element("path", klass="line", fill="none", d=draw_across((to_x, side_y), (from_x, box_y)))
    if kind == "leaf":
        line += element("path", klass="head", d=draw_head((from_x, box_y), "left"))
    return line

"""Mark one node of a drawn graph with a frame and a word, so that colour is not the only sign."""

from app.pictures.drawing.draw import Picture
from app.pictures.drawing.svg import element, write

MARGIN = 5.0
WORD_GAP = 4.0
ROOM = 18
"""Pixels added above the picture, for the word over a node at its top."""


def mark_node(picture: Picture, node: int, word: str) -> str:
    """The picture's SVG with `node`, a row of its trace, marked. A node inside a closed fold marks the fold."""
    drawn = next((found for found in picture.nodes if node in found.members), None)
    if drawn is None:
        return picture.svg
    frame = element(
        "rect",
        x=round(drawn.x - MARGIN, 1),
        y=round(drawn.y - MARGIN, 1),
        width=round(drawn.width + 2 * MARGIN, 1),
        height=round(drawn.height + 2 * MARGIN, 1),
        rx=8,
        klass="mark-frame",
        fill="none",
    )
    label = element(
        "text",
        write(f"✗ {word}"),
        x=round(drawn.x - MARGIN, 1),
        y=round(drawn.y - MARGIN - WORD_GAP, 1),
        klass="mark-word",
    )
    mark = element("g", frame + label, klass="mark", aria_hidden="true")
    width, height = round(picture.width), round(picture.height)
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    roomier = f'viewBox="0 {-ROOM} {width} {height + ROOM}" width="{width}" height="{height + ROOM}"'
    return picture.svg.replace(size, roomier, 1).removesuffix("</svg>") + mark + "</svg>"

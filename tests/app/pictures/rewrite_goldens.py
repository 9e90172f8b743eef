"""Draw the reviewed pictures again: `python tests/app/pictures/rewrite_goldens.py`, then look at the diff."""

import sys
from pathlib import Path

HERE = Path(__file__).parent


def rewrite() -> None:
    sys.path[:0] = [str(HERE.parents[2]), str(HERE)]
    from picture_parts import RECORDED, open_recorded

    from app.pictures import draw_graph

    for name in RECORDED:
        picture = draw_graph(open_recorded(name), id_prefix="g")
        (HERE / "goldens" / f"{name}.svg").write_text(picture.svg.replace("><", ">\n<") + "\n", encoding="utf-8")


if __name__ == "__main__":
    rewrite()

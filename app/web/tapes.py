"""A run's picture and tape as the browser's player reads them."""

import json

from app.pictures import write_tape
from app.web.figures import Figure
from graders.contract.model import SubmissionId


def write_played(figure: Figure, source: str, run: SubmissionId) -> str:
    """JSON: the picture, the same in words, the tape, and where the picture is had with folds opened.

    It may be a megabyte: write it in a thread.
    """
    played = {
        "svg": figure.picture.svg,
        "text": figure.picture.text,
        "tape": write_tape(figure.trace, source).document,
        "href": f"/api/runs/{run}/graph",
    }
    return json.dumps(played, ensure_ascii=False, separators=(",", ":"))

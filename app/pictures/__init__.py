"""From a trace to a picture: check, fold, place, draw. Pure: no file, socket, clock or random source."""

from app.pictures.check import TraceRefused, check_trace, read_trace
from app.pictures.draw import Picture, draw_graph
from app.pictures.figure import graph_figure
from app.pictures.paint import DrawnNode
from app.pictures.tape import Tape, write_tape
from app.pictures.telling import TapeRow, tape_rows
from app.pictures.whole import MOST_WHOLE, write_whole

__all__ = [
    "MOST_WHOLE",
    "DrawnNode",
    "Picture",
    "Tape",
    "TapeRow",
    "TraceRefused",
    "check_trace",
    "draw_graph",
    "graph_figure",
    "read_trace",
    "tape_rows",
    "write_tape",
    "write_whole",
]

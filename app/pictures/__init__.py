"""Turn a checked trace into a picture: read, fold, place, draw. Pure: no file, socket, clock or random source."""

from app.pictures.budget import TooLarge
from app.pictures.drawing.canvas import MAX_WHOLE_NODES, write_whole
from app.pictures.drawing.draw import Picture, draw_graph
from app.pictures.drawing.figure import graph_figure
from app.pictures.drawing.paint import DrawnNode
from app.pictures.drawing.player_tape import Tape, write_tape
from app.pictures.graph.graph import Graph, read_graph
from app.pictures.tape.sentences import TapeRow, tape_rows

__all__ = [
    "MAX_WHOLE_NODES",
    "DrawnNode",
    "Graph",
    "Picture",
    "Tape",
    "TapeRow",
    "TooLarge",
    "draw_graph",
    "graph_figure",
    "read_graph",
    "tape_rows",
    "write_tape",
    "write_whole",
]

"""From a trace to a picture: check, fold, place, draw. Pure: no file, socket, clock or random source."""

from app.pictures.check import TraceRefused, check_trace, read_trace
from app.pictures.draw import Picture, draw_graph
from app.pictures.paint import DrawnNode

__all__ = ["DrawnNode", "Picture", "TraceRefused", "check_trace", "draw_graph", "read_trace"]

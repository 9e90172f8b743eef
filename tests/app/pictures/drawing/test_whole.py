"""A graph with nothing folded, for a canvas: everything once, nothing over anything, always the same, and a cap."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from picture_parts import QUICK, RECORDED, Sketch, any_sketch, open_recorded, sketch_chain

from app.pictures import TooLarge, write_whole
from app.pictures.drawing.canvas import BOX_HEIGHT

PILL_HEIGHT = 20


def rectangles(document: dict[str, Any]) -> list[tuple[float, float, float, float]]:
    boxes, pills = document["boxes"], document["pills"]
    own = [(x, y, x + w, y + BOX_HEIGHT) for x, y, w in zip(boxes["x"], boxes["y"], boxes["width"], strict=True)]
    hung = [(x, y, x + w, y + PILL_HEIGHT) for x, y, w in zip(pills["x"], pills["y"], pills["width"], strict=True)]
    return own + hung


def overlaps(document: dict[str, Any]) -> list[Any]:
    """Pairs that cover the same place, found by sweeping from the left."""
    waiting = sorted(rectangles(document))
    return [
        (one, other)
        for place, one in enumerate(waiting)
        for other in waiting[place + 1 : place + 400]
        if other[0] < one[2] - 1 and one[1] < other[3] - 1 and other[1] < one[3] - 1
    ]


@pytest.mark.parametrize("name", RECORDED)
def test_every_operation_stands_there_once_and_nothing_lies_over_anything(name: str) -> None:
    graph = open_recorded(name)
    document = write_whole(graph)
    assert document["boxes"]["node"] == list(graph.order)
    assert overlaps(document) == []
    assert max(right for _, _, right, _ in rectangles(document)) <= document["width"]
    assert max(bottom for *_, bottom in rectangles(document)) <= document["height"]


@given(any_sketch())
@QUICK
def test_any_graph_is_written_with_its_lines_from_box_to_box(sketch: Sketch) -> None:
    document = write_whole(sketch.graph())
    boxes, edges = document["boxes"], document["edges"]
    assert overlaps(document) == []
    for above, below, points in zip(edges["from"], edges["to"], edges["points"], strict=True):
        ends = (points[0], points[1], above, BOX_HEIGHT), (points[-2], points[-1], below, 0)
        for x, y, box, down in ends:
            assert boxes["x"][box] - 1 <= x <= boxes["x"][box] + boxes["width"][box] + 1
            assert abs(boxes["y"][box] + down - y) <= PILL_HEIGHT * 3


def test_a_long_chain_becomes_columns_that_are_read_one_after_the_other() -> None:
    document = write_whole(sketch_chain(1_200).graph())
    boxes = document["boxes"]
    assert 0.5 < document["width"] / document["height"] < 4
    backwards = [place for place, (one, other) in enumerate(pairwise(boxes["y"])) if other < one]
    assert len(backwards) > 3, "there are several columns"
    assert all(boxes["x"][place + 1] > boxes["x"][place] for place in backwards)


def test_the_same_trace_gives_the_same_document() -> None:
    graph = open_recorded("transformer")
    assert json.dumps(write_whole(graph)) == json.dumps(write_whole(graph))


def test_too_many_operations_are_refused_in_words() -> None:
    with pytest.raises(TooLarge, match="the graph has 51 operations; at most 50 are opened at once"):
        write_whole(sketch_chain(51).graph(), most=50)

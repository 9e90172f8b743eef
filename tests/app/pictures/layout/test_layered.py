"""The layout's promises: nothing overlaps, every line points down, the same input gives the same picture."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from picture_parts import QUICK

from app.pictures.layout.layered import Block, Link, Placement, place_blocks


@st.composite
def any_graph(draw: st.DrawFn) -> tuple[list[Block], list[Link]]:
    sizes = draw(st.lists(st.tuples(st.integers(10, 200), st.integers(10, 90)), min_size=1, max_size=40))
    blocks = [Block(float(width), float(height)) for width, height in sizes]
    links = []
    for target in range(1, len(blocks)):
        for source in draw(st.lists(st.integers(0, target - 1), max_size=3)):
            links.append(Link(source, target, blocks[source].width / 2, blocks[target].width / 2))
    return blocks, links


@given(any_graph())
@QUICK
def test_no_two_blocks_overlap(graph: tuple[list[Block], list[Link]]) -> None:
    blocks, links = graph
    placed = place_blocks(blocks, links)
    for one in range(len(blocks)):
        for other in range(one):
            assert are_apart(blocks, placed, one, other)


def are_apart(blocks: list[Block], placed: Placement, one: int, other: int) -> bool:
    beside = (
        placed.left[one] + blocks[one].width <= placed.left[other]
        or placed.left[other] + blocks[other].width <= placed.left[one]
    )
    below = (
        placed.top[one] + blocks[one].height <= placed.top[other]
        or placed.top[other] + blocks[other].height <= placed.top[one]
    )
    return beside or below


@given(any_graph())
@QUICK
def test_every_line_goes_down_from_producer_to_consumer(graph: tuple[list[Block], list[Link]]) -> None:
    blocks, links = graph
    placed = place_blocks(blocks, links)
    for link, route in zip(links, placed.routes, strict=True):
        assert route[0] == pytest.approx(
            (placed.left[link.source] + link.exit, placed.top[link.source] + blocks[link.source].height)
        )
        assert route[-1] == pytest.approx((placed.left[link.target] + link.entry, placed.top[link.target]))
        assert [y for _, y in route] == sorted(y for _, y in route)


@given(any_graph())
@QUICK
def test_everything_lies_within_the_size_that_is_told(graph: tuple[list[Block], list[Link]]) -> None:
    blocks, links = graph
    placed = place_blocks(blocks, links)
    for index, block in enumerate(blocks):
        assert placed.left[index] >= 0
        assert placed.top[index] >= 0
        assert placed.left[index] + block.width <= placed.width + 0.1
        assert placed.top[index] + block.height <= placed.height + 0.1


@given(any_graph())
@QUICK
def test_the_same_graph_is_placed_the_same_way(graph: tuple[list[Block], list[Link]]) -> None:
    assert place_blocks(*graph) == place_blocks(*graph)


def test_a_chain_stands_straight() -> None:
    blocks = [Block(100.0, 40.0), Block(60.0, 40.0), Block(140.0, 40.0)]
    placed = place_blocks(blocks, [Link(0, 1, 50.0, 30.0), Link(1, 2, 30.0, 70.0)], row_gap=40.0)
    assert [left + block.width / 2 for left, block in zip(placed.left, blocks, strict=True)] == [70.0, 70.0, 70.0]
    assert placed.top == (0.0, 80.0, 160.0)


def test_a_chain_with_shortcuts_does_not_lean_away() -> None:
    blocks = [Block(100.0, 40.0)] * 300
    links = [Link(at, at + 1, 50.0, 50.0) for at in range(299)]
    links += [Link(at, at + 3, 50.0, 50.0) for at in range(0, 296, 5)]
    assert place_blocks(blocks, links).width < 400


def test_a_line_past_a_row_goes_around_its_boxes() -> None:
    blocks = [Block(100.0, 40.0)] * 3
    links = [Link(0, 1, 50.0, 50.0), Link(1, 2, 50.0, 50.0), Link(0, 2, 50.0, 50.0)]
    placed = place_blocks(blocks, links)
    middle = [x for x, y in placed.routes[2] if placed.top[1] <= y <= placed.top[1] + 40.0]
    assert middle
    assert all(x < placed.left[1] or x > placed.left[1] + 100.0 for x in middle)


def test_ports_stand_in_the_first_and_the_last_row() -> None:
    blocks = [Block(10.0, 0.0, pinned=-1), Block(50.0, 20.0), Block(50.0, 20.0), Block(10.0, 0.0, pinned=1)]
    placed = place_blocks(blocks, [Link(0, 2, 5.0, 25.0), Link(1, 2, 25.0, 25.0), Link(1, 3, 25.0, 5.0)])
    assert placed.top[0] == 0.0 < placed.top[1] < placed.top[2] < placed.top[3]


def test_links_in_a_circle_are_refused() -> None:
    blocks = [Block(10.0, 10.0)] * 2
    with pytest.raises(ValueError, match="cycle"):
        place_blocks(blocks, [Link(0, 1, 0.0, 0.0), Link(1, 0, 0.0, 0.0)])


def test_nothing_is_placed_nowhere() -> None:
    assert place_blocks([], []) == Placement((), (), (), 0.0, 0.0)

"""The budget of a schedule against an oracle: a search through all programs on a machine, for short chains."""

import heapq
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "exercises" / "few-snapshots-few-steps"
LONGEST = 9


@pytest.fixture(scope="module")
def cases() -> ModuleType:
    spec = importlib.util.spec_from_file_location("few_snapshots_cases", FOLDER / "cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def search_fewest_steps(layers: int, most_held: int) -> int:
    """Dijkstra's search: what is alive is a set of states and the newest gradient; only a forward step costs."""
    no_gradient = layers + 1
    begin = (frozenset([0]), no_gradient)
    found = {begin: 0}
    waiting = [(0, 0, begin)]
    made = 0
    while waiting:
        steps, _, place = heapq.heappop(waiting)
        if place[1] == 0:
            return steps
        if found[place] < steps:
            continue
        for cost, after in list_moves(place, layers, most_held):
            if steps + cost < found.get(after, 10**9):
                found[after] = steps + cost
                made += 1
                heapq.heappush(waiting, (steps + cost, made, after))
    raise AssertionError("no program gets there")


def list_moves(place, layers: int, most_held: int):
    states, gradient = place
    has_room = len(states) + (gradient <= layers) < most_held
    for state in states:
        yield 0, (states - {state}, gradient)
        if has_room and state < min(gradient, layers):
            yield 1, (states | {state + 1}, gradient)
    if has_room and gradient > layers and layers in states:
        yield 0, (states, layers)
    if has_room and gradient <= layers and gradient - 1 in states:
        yield 0, (states, gradient - 1)


@pytest.mark.parametrize("slots", [1, 2, 3, 4])
def test_no_program_takes_fewer_steps_than_the_budget(cases, slots):
    for layers in range(1, LONGEST + 1):
        machine = cases.draw_case("a chain", "", layers, slots)["machine"]
        assert machine["most_forwards"] == search_fewest_steps(layers, machine["most_held"]), layers

"""The budget of a schedule for unequal layers against an oracle: a search through all programs, for short chains."""

import heapq
import importlib.util
import random
from collections.abc import Iterator
from math import inf
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "exercises" / "snapshots-of-unequal-layers"

Place = tuple[frozenset[int], int]


@pytest.fixture(scope="module")
def cases() -> ModuleType:
    spec = importlib.util.spec_from_file_location("unequal_layers_cases", FOLDER / "cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def search_fewest_steps(costs: list[int], units: list[int], most_held: int) -> float:
    """Dijkstra's search: what is alive is a set of states and the newest gradient; only a forward step costs."""
    no_gradient = len(costs) + 1
    begin: Place = (frozenset([0]), no_gradient)
    found: dict[Place, int] = {begin: 0}
    waiting = [(0, 0, begin)]
    made = 0
    while waiting:
        steps, _, place = heapq.heappop(waiting)
        if place[1] == 0:
            return steps
        if found[place] < steps:
            continue
        for cost, after in list_moves(place, costs, units, most_held):
            if steps + cost < found.get(after, inf):
                found[after] = steps + cost
                made += 1
                heapq.heappush(waiting, (steps + cost, made, after))
    return inf


def list_moves(place: Place, costs: list[int], units: list[int], most_held: int) -> Iterator[tuple[int, Place]]:
    states, gradient = place
    layers = len(costs)
    room = most_held - sum(units[state] for state in states) - (units[gradient] if gradient <= layers else 0)
    for state in states:
        yield 0, (states - {state}, gradient)
        if state < min(gradient, layers) and units[state + 1] <= room:
            yield costs[state], (states | {state + 1}, gradient)
    if gradient > layers and layers in states and units[layers] <= room:
        yield 0, (states, layers)
    if gradient <= layers and gradient - 1 in states and units[gradient - 1] <= room:
        yield 0, (states, gradient - 1)


@pytest.mark.parametrize("layers", [1, 2, 3, 4, 5, 6, 7])
def test_no_program_takes_fewer_steps_than_the_budget(cases, layers):
    rng = random.Random(layers)
    for _ in range(12):
        costs = [rng.randint(1, 9) for _ in range(layers)]
        units = sorted((rng.randint(1, 5) for _ in range(layers + 1)), reverse=True)
        most_held = rng.randint(units[0] + units[1], sum(units) + units[0])
        found = cases.count_steps(costs, units, most_held)
        assert found == search_fewest_steps(costs, units, most_held), (costs, units, most_held)


def test_with_growing_states_a_program_may_drop_a_snapshot_and_beat_the_plan(cases):
    """Why the exercise promises that states never grow."""
    chain = ([5, 8, 4, 7, 1], [1, 1, 2, 1, 2, 3], 8)
    assert (cases.count_steps(*chain), search_fewest_steps(*chain)) == (inf, 49)


def test_every_chain_keeps_the_promise_of_the_prompt(cases):
    for seed in range(20):
        for case in cases.draw_cases(random.Random(seed)):
            units = case["machine"]["units"]
            assert units == sorted(units, reverse=True), case["name"]
            assert case["machine"]["most_forwards"] < inf

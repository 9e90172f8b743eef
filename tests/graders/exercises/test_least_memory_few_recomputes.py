"""The bound of the ranked lab comes from the best plain plan: found by two methods, and compared with any program."""

import importlib.util
import random
from pathlib import Path
from types import ModuleType

import pytest
from drops_a_snapshot_early import reverse as drop_a_snapshot_early
from test_snapshots_of_unequal_layers import search_fewest_steps

FOLDER = Path(__file__).resolve().parents[3] / "exercises" / "least-memory-few-recomputes"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"least_memory_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def cases() -> ModuleType:
    return load("cases")


def search_least(units: list[int], recomputed: int, most: int) -> int:
    """The least memory of any program, by halving; `most` is known to be enough."""
    layers, low = len(units) - 1, max(units)
    while low < most:
        middle = (low + most) // 2
        enough = search_fewest_steps([1] * layers, units, middle) <= layers + recomputed
        low, most = (low, middle) if enough else (middle + 1, most)
    return most


@pytest.mark.parametrize("layers", [1, 2, 3, 4, 5, 6])
def test_for_states_that_never_grow_no_program_needs_less_than_the_best_plain_plan(cases, layers):
    rng = random.Random(layers)
    for recomputed in (0, 1, layers, 3 * layers):
        units = sorted((rng.randint(5, 99) for _ in range(layers + 1)), reverse=True)
        least = cases.find_least(units, recomputed)
        assert search_least(units, recomputed, least) == least, (units, recomputed)


def test_for_growing_states_there_are_plans_beyond_the_plain_ones(cases):
    """Why there is something to win: a snapshot that is dropped early makes room for a larger one."""
    units = [9, 17, 25, 38, 43, 51, 70, 88]
    assert (cases.find_least(units, 8), search_least(units, 8, 300)) == (255, 237)


def test_the_table_of_the_cases_and_the_plan_of_the_solution_find_the_same_least(cases):
    """One counts steps for each amount of memory, the other memory for each number of recomputations."""
    solution = load("solution")
    rng = random.Random(1)
    for _ in range(6):
        units = [rng.randint(5, 99) for _ in range(rng.randint(3, 14))]
        recomputed = rng.randint(0, 20)
        machine = CountingMachine(units, len(units) - 1 + recomputed)
        solution.reverse(machine)
        assert machine.forwards <= machine.most_forwards
        assert machine.peak == cases.find_least(units, recomputed), (units, recomputed)


def test_a_program_that_drops_a_snapshot_early_holds_less_than_the_bound(cases):
    """It is no attempt of the exercise, because whoever passes can read those."""
    small_every_fourth = [81, 60, 17, 93, 44, 72, 21, 98, 55, 86, 8, 67, 90, 49, 24, 77, 63]
    recomputed = 20
    machine = CountingMachine(small_every_fourth, 16 + recomputed)
    drop_a_snapshot_early(machine)
    assert machine.forwards <= machine.most_forwards
    assert machine.peak < cases.find_least(small_every_fourth, recomputed)


class CountingMachine:
    """Counts what a program holds; a state is a pair of its place and whether it is a gradient."""

    def __init__(self, units: list[int], most_forwards: int) -> None:
        self.units, self.layers, self.most_forwards = units, len(units) - 1, most_forwards
        self.held = self.peak = units[0]
        self.forwards, self.start = 0, (0, False)

    def forward(self, layer, state):
        assert state == (layer, False)
        self.forwards += 1
        return self._make(layer + 1, is_gradient=False)

    def loss(self, state):
        assert state == (self.layers, False)
        return self._make(self.layers, is_gradient=True)

    def vjp(self, layer, state, gradient):
        assert (state, gradient) == ((layer, False), (layer + 1, True))
        return self._make(layer, is_gradient=True)

    def free(self, *handles):
        self.held -= sum(self.units[place] for place, _ in handles)

    def _make(self, place, *, is_gradient):
        self.held += self.units[place]
        self.peak = max(self.peak, self.held)
        return (place, is_gradient)

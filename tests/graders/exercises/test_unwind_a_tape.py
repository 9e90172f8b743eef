"""The exercise about unwinding a tape, against an oracle: its solution agrees with torch in float64."""

import importlib.util
import random
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "exercises" / "unwind-a-tape"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"unwind_a_tape_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CASES, PROBE, SOLUTION = load("cases"), load("probe"), load("solution")


def drawn(seeds: range) -> list[dict]:
    return [case for seed in seeds for case in CASES.draw_cases(random.Random(seed))]


def gradients_by_torch(steps: list, output: int) -> list[float]:
    import torch

    nodes: list = []
    for operation, *args in steps:
        if operation == "leaf":
            nodes.append(torch.tensor(args[0], dtype=torch.float64, requires_grad=True))
        elif operation == "tanh":
            nodes.append(nodes[args[0]].tanh())
        elif operation == "scale":
            nodes.append(nodes[args[0]] * args[1])
        else:
            left, right = (nodes[place] for place in args)
            nodes.append(left + right if operation == "+" else left * right)
    found = torch.autograd.grad(nodes[output], nodes, allow_unused=True)
    return [0.0 if gradient is None else float(gradient) for gradient in found]


@pytest.mark.torch
def test_the_solution_agrees_with_torch_on_random_programs():
    for seed in range(30):
        steps = CASES.draw_program(random.Random(seed), 14)
        names, output = CASES.names_of(steps), len(steps) - 2
        found = SOLUTION.unwind(CASES.write_tape(steps), names[output])
        # A tape keeps its slopes to six digits, so that a learner can read them.
        assert [found[name] for name in names] == pytest.approx(gradients_by_torch(steps, output), rel=1e-3, abs=1e-4)


def test_the_catalogue_of_mistakes_has_the_truth_right():
    for case in drawn(range(10)):
        inputs = case["inputs"]
        truth = CASES.differentiate_all(inputs["tape"], inputs["outputs"], inputs["names"])
        assert PROBE.probe(SOLUTION, inputs)["gradients"] == pytest.approx(truth, rel=1e-12)


def test_hidden_gradients_are_of_order_one_and_no_known_mistake_gives_them():
    hidden = [case["inputs"] for case in drawn(range(10)) if case["name"].startswith("random tape")]
    assert len(hidden) == 40
    for inputs in hidden:
        [output] = inputs["outputs"]
        truth = CASES.differentiate(inputs["tape"], output)
        assert all(0.05 <= abs(truth[leaf]) <= 20 for leaf in "abcd")
        for mistake in CASES.ONE_CALL:
            wrong = CASES.differentiate(inputs["tape"], output, mistake)
            assert max(abs(truth[leaf] - wrong[leaf]) for leaf in "abcd") > 1e-3, mistake


def test_doubling_gives_a_power_of_two():
    by_name = {case["name"]: case["inputs"] for case in drawn(range(1))}
    assert PROBE.probe(SOLUTION, by_name["48 doublings"])["gradients"][0] == 2.0**48


def test_no_tape_is_longer_than_the_prompt_says():
    assert max(len(case["inputs"]["tape"]) for case in drawn(range(10))) <= 60


def test_the_prompt_counts_the_checks_as_they_are():
    cases = drawn(range(1))
    assert (sum(case["public"] for case in cases), sum(not case["public"] for case in cases)) == (10, 5)
    assert "Ten checks are public" in (FOLDER / "prompt.md").read_text()


def test_a_public_case_is_shown_as_a_program_that_runs():
    for case in drawn(range(2)):
        if case["public"]:
            calls = case["shown"].splitlines()[-len(case["inputs"]["outputs"]) :]
            namespace = {"unwind": SOLUTION.unwind}
            exec(case["shown"], namespace)
            found = [eval(call, namespace)[name] for call in calls for name in case["inputs"]["names"]]
            assert found == PROBE.probe(SOLUTION, case["inputs"])["gradients"]

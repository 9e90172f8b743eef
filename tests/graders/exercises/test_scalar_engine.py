"""The scalar engine against an oracle: its solution and its own idea of the truth agree with torch in float64."""

import importlib.util
import random
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "exercises" / "scalar-engine"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"scalar_engine_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CASES, PROBE, SOLUTION = load("cases"), load("probe"), load("solution")


def drawn(seeds: range) -> list[dict]:
    return [case for seed in seeds for case in CASES.draw_cases(random.Random(seed))]


def gradients_by_torch(steps: list, outputs: list[int]) -> list[float]:
    import torch

    nodes: list = []
    for operation, *args in steps:
        if operation == "leaf":
            nodes.append(torch.tensor(args[0], dtype=torch.float64, requires_grad=True))
        elif operation == "tanh":
            nodes.append(nodes[args[0]].tanh())
        else:
            left, right = (nodes[place] for place in args)
            nodes.append(left + right if operation == "+" else left * right)
    for place in outputs:
        nodes[place].backward()
    return [float(node.grad) for node, step in zip(nodes, steps, strict=True) if step[0] == "leaf"]


@pytest.mark.torch
def test_the_solution_agrees_with_torch_on_every_graph():
    for case in drawn(range(10)):
        if case["inputs"]["ask"] == "gradients":
            expected = gradients_by_torch(case["inputs"]["steps"], case["inputs"]["outputs"])
            assert PROBE.probe(SOLUTION, case["inputs"])["gradients"] == pytest.approx(expected, rel=1e-12), case[
                "name"
            ]


def test_the_catalogue_of_mistakes_has_the_truth_right():
    for case in drawn(range(10)):
        if case["inputs"]["ask"] == "gradients":
            truth = CASES.differentiate(case["inputs"]["steps"], case["inputs"]["outputs"])
            assert PROBE.probe(SOLUTION, case["inputs"])["gradients"] == pytest.approx(truth, rel=1e-12)


def test_hidden_gradients_are_of_order_one_and_no_known_mistake_gives_them():
    hidden = [case for case in drawn(range(10)) if case["name"].startswith("random graph")]
    assert len(hidden) == 60
    for case in hidden:
        steps, outputs = case["inputs"]["steps"], case["inputs"]["outputs"]
        truth = CASES.differentiate(steps, outputs)
        assert all(0.05 <= abs(gradient) <= 20 for gradient in truth)
        for mistake in CASES.MISTAKES:
            if mistake not in CASES.BETWEEN_CALLS:
                wrong = CASES.differentiate(steps, outputs, mistake)
                assert max(abs(t - w) for t, w in zip(truth, wrong, strict=True)) > 1e-3, mistake


def test_doubling_gives_a_power_of_two():
    by_name = {case["name"]: case["inputs"] for case in drawn(range(1))}
    assert PROBE.probe(SOLUTION, by_name["16 doublings"]) == {"gradients": [2.0**16]}
    assert PROBE.probe(SOLUTION, by_name["48 doublings"]) == {"gradients": [2.0**48]}


def test_no_graph_is_deeper_than_the_prompt_says():
    assert max(len(case["inputs"]["steps"]) for case in drawn(range(10))) <= 200


def test_the_prompt_counts_the_checks_as_they_are():
    cases = drawn(range(1))
    assert (sum(case["public"] for case in cases), sum(not case["public"] for case in cases)) == (13, 9)
    assert "Thirteen checks are public" in (FOLDER / "prompt.md").read_text()


def test_a_public_case_is_shown_as_a_program_that_runs():
    for case in drawn(range(2)):
        if case["public"]:
            namespace = {"Value": SOLUTION.Value}
            exec(case["shown"], namespace)
            leaves = [place for place, step in enumerate(case["inputs"]["steps"]) if step[0] == "leaf"]
            if case["inputs"]["ask"] == "gradients":
                expected = PROBE.probe(SOLUTION, case["inputs"])["gradients"]
                assert [namespace[f"v{place}"].grad for place in leaves] == expected

"""The expected answers of exercises on rules, Functions and training, held against torch or a formula on paper."""

import random
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

ROOT = Path(__file__).resolve().parents[3] / "exercises"
SEEDS = range(2)


def load(exercise: str, file: str) -> Any:
    module = ModuleType(file)
    path = ROOT / exercise / f"{file}.py"
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
    return module


def answers(exercise: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Inputs and expected answer of every case, for several draws."""
    cases, probe, solution = (load(exercise, file) for file in ("cases", "probe", "solution"))
    drawn = [case for seed in SEEDS for case in cases.draw_cases(random.Random(seed))]
    drawn = [case for case in drawn if "peak" not in case]  # those are prepared first, and held against a budget
    return [(case["inputs"], probe.probe(solution, case["inputs"])) for case in drawn]


def leaf(array: Any) -> Any:
    return torch.from_numpy(np.asarray(array).copy()).requires_grad_()


def is_near(ours: Any, theirs: Any) -> bool:
    return bool(np.allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-9, atol=1e-9))


@pytest.mark.parametrize(
    ("exercise", "operation"),
    [
        ("broadcast-vjp", lambda a, b, inputs: a + b if inputs["op"] == "+" else a * b),
        ("matmul-vjp", lambda a, b, inputs: a @ b),
    ],
)
def test_rules_of_arrays_are_torchs(exercise, operation):
    for inputs, expected in answers(exercise):
        a, b = leaf(inputs["a"]), leaf(inputs["b"])
        wanted = torch.autograd.grad(operation(a, b, inputs), (a, b), torch.from_numpy(inputs["g"]))
        assert [expected["ga"].shape, expected["gb"].shape] == [tuple(one.shape) for one in wanted]
        assert is_near(expected["ga"], wanted[0])
        assert is_near(expected["gb"], wanted[1])


def test_log_sum_exp_is_torchs_and_a_row_without_entries_has_no_gradient():
    for inputs, expected in answers("stable-logsumexp"):
        for side in ("", "second ") if "second x" in inputs else ("",):
            x = leaf(inputs[f"{side}x"])
            value = torch.logsumexp(x, inputs[f"{side}dim"])
            (gradient,) = torch.autograd.grad(value, x, torch.from_numpy(inputs[f"{side}g"]))
            assert is_near(expected[f"{side}value"], value.detach())
            assert is_near(expected[f"{side}gradient"], torch.nan_to_num(gradient))


def test_the_quantiser_is_its_declaration():
    for inputs, expected in answers("straight-through-quantiser"):
        factor = inputs["factor"] or 1.0
        x, step = inputs["x"] * factor, inputs["s"]
        grid = np.arange(round(1 / step) + 1) * step
        nearest = grid[np.abs(x[..., None] - grid).argmin(-1)]
        assert is_near(expected["y"].detach(), nearest)
        if inputs["ask"] == "gradient":
            inside = (x >= 0) & (x <= 1)
            assert is_near(expected["gradient"], factor * (inputs["g"] * inside + inputs["h"]))


def test_the_cubes_derivatives_are_those_of_a_power_that_torch_knows():
    probe = load("twice-differentiable-cube", "probe")

    class Power:
        apply = staticmethod(lambda x: x**3)

    for inputs, expected in answers("twice-differentiable-cube"):
        if inputs["ask"] in probe.DERIVATIVES:
            x, weights = leaf(inputs["x"]), torch.from_numpy(inputs["weights"])
            wanted = probe.DERIVATIVES[inputs["ask"]](Power, x, weights)
            assert is_near(expected["gradient"].detach(), wanted.detach())


def test_networks_are_trained_as_torch_trains_them():
    probe = load("train-on-your-engine", "probe")
    trained = [pair for pair in answers("train-on-your-engine") if pair[0]["ask"] == "training"]
    assert len(trained) == 5 * len(SEEDS)
    for inputs, expected in trained:
        parameters = [leaf(inputs[name]) for name in inputs["names"]]
        x, y = torch.from_numpy(inputs["x"]), torch.from_numpy(inputs["y"])
        losses = []
        for _ in range(inputs["steps_of_training"]):
            loss = (run(probe, inputs, x, parameters) - y).pow(2).mean()
            losses.append(loss.item())
            gradients = torch.autograd.grad(loss, parameters, materialize_grads=True)
            with torch.no_grad():
                for parameter, gradient in zip(parameters, gradients, strict=True):
                    parameter -= inputs["rate"] * gradient
        assert is_near(expected["losses"], losses)
        for name, parameter in zip(inputs["names"], parameters, strict=True):
            assert is_near(expected[name], parameter.detach())


def run(probe: Any, inputs: dict[str, Any], x: Any, parameters: list[Any]) -> Any:
    if inputs["network"] == "gated":
        return probe.gated(x, parameters)
    w1, b1, w2, b2 = parameters
    return torch.tanh(x @ w1 + b1) @ w2 + b2


def test_random_graphs_of_arrays_have_torchs_gradients():
    for inputs, expected in answers("train-on-your-engine"):
        if inputs["ask"] != "gradients":
            continue
        nodes: list[Any] = []
        probe = load("train-on-your-engine", "probe")
        for operation, *operands in inputs["steps"]:
            given = (
                [leaf(inputs[operands[0]].astype(float))]
                if operation == "leaf"
                else [nodes[place] for place in operands]
            )
            nodes.append(given[0] if operation == "leaf" else probe.apply(operation, given))
        for place in inputs["outputs"]:
            nodes[place].backward()
        assert expected.pop("arrays unchanged")
        for name, gradient in expected.items():
            assert is_near(gradient, nodes[int(name.removeprefix("grad of v"))].grad)


def test_layer_norm_and_its_three_gradients_are_torchs():
    for inputs, expected in answers("layer-norm-by-hand"):
        for side in ("", "second ") if "second x" in inputs else ("",):
            named = {name: leaf(inputs[side + name]) for name in ("x", "weight", "bias")}
            x, weight, bias = named.values()
            y = torch.nn.functional.layer_norm(x, weight.shape, weight, bias, inputs["eps"])
            found = torch.autograd.grad(y, list(named.values()), torch.from_numpy(inputs[side + "g"]))
            assert is_near(expected[f"{side}y"], y.detach())
            for name, gradient in zip(named, found, strict=True):
                right = torch.zeros_like(gradient) if name in inputs["frozen"] else gradient
                assert is_near(expected[f"{side}gradient of {name}"], right)


def test_cross_entropy_is_torchs_with_the_same_padding():
    for inputs, expected in answers("cross-entropy-in-one-node"):
        for side in ("", "second ") if "second logits" in inputs else ("",):
            logits, target = leaf(inputs[f"{side}logits"]), torch.from_numpy(inputs[f"{side}target"])
            loss = torch.nn.functional.cross_entropy(logits, target)
            (gradient,) = torch.autograd.grad(loss, logits)
            assert is_near(expected[f"{side}loss"], loss.detach())
            for name in ("gradient", "gradient once more"):
                assert is_near(expected[f"{side}{name}"], gradient * inputs[f"{side}g"])


def test_the_activation_that_saves_one_tensor_has_the_gradient_of_its_formula():
    for inputs, expected in answers("an-activation-that-saves-one-tensor"):
        x = leaf(inputs["x"])
        y = x * torch.sigmoid(x) * torch.tanh(x)
        (gradient,) = torch.autograd.grad(y, x, torch.from_numpy(inputs["g"]))
        assert is_near(expected["y"], y.detach())
        assert is_near(expected["gradient"], gradient if inputs["wanted"] else torch.zeros_like(x))


def test_a_gradient_through_a_step_is_the_outer_gradient_times_one_minus_rate_times_hessian_for_each_step():
    probe = load("a-gradient-through-a-step", "probe")
    for inputs, expected in answers("a-gradient-through-a-step"):
        if inputs["inner"] == "wide":
            continue
        losses = [probe.Loss(inputs[w], inputs[f"{w} matrix"], inputs[f"{w} vector"]) for w in ("inner", "outer")]
        path = [leaf(inputs["theta"])]
        for _ in range(inputs["steps"]):
            (slope,) = torch.autograd.grad(losses[0](path[-1]), path[-1])
            path.append(leaf((path[-1] - inputs["rate"] * slope).detach().numpy()))
        (gradient,) = torch.autograd.grad(losses[1](path[-1]), path[-1])
        for theta in reversed(path[:-1]):
            hessian = torch.autograd.functional.hessian(losses[0], theta.detach())
            gradient = gradient - inputs["rate"] * hessian @ gradient
        assert is_near(expected["gradient"], gradient.detach())


def test_where_no_product_runs_twice_the_gradients_are_those_of_layers_without_checkpoints():
    cases, probe, solution = (load("no-product-twice", file) for file in ("cases", "probe", "solution"))
    for case in [case for case in cases.draw_cases(random.Random(0)) if "peak" not in case]:
        answer = probe.probe(solution, probe.prepare(case["inputs"]))
        given = probe.prepare(case["inputs"])
        output = given["x"]
        for layer in given["layers"]:
            output = layer(output)
        for layer in given["layers"]:
            layer.change(given["next"])
        output.backward(given["g"])
        assert is_near(answer["output"], output.detach()[..., :4])
        sums = [(each.grad * each.grad.cos()).sum() for each in given["layers"].parameters()]
        assert is_near(answer["gradients of the weights"], torch.stack(sums))


def test_statistics_that_move_once_and_their_gradients_are_those_of_a_plain_call():
    cases, probe, solution = (load("statistics-that-move-once", file) for file in ("cases", "probe", "solution"))
    plain = ModuleType("plain")
    plain.run = lambda stretch, x: stretch(x)
    for case in [case for case in cases.draw_cases(random.Random(0)) if "peak" not in case]:
        ours, theirs = (probe.probe(each, probe.prepare(case["inputs"])) for each in (solution, plain))
        assert all(is_near(torch.as_tensor(ours[name]), torch.as_tensor(theirs[name])) for name in theirs)


def test_attention_whose_core_runs_again_has_the_gradients_of_one_that_keeps_everything():
    probe, starter = (load("only-the-core-runs-again", file) for file in ("probe", "starter"))
    for inputs, expected in answers("only-the-core-runs-again"):
        plain = probe.probe(starter, inputs)
        assert all(is_near(torch.as_tensor(expected[name]), torch.as_tensor(plain[name])) for name in plain)


def test_what_top_k_sends_is_the_largest_of_all_that_has_arrived_and_was_not_sent():
    for inputs, expected in answers("top-k-with-error-feedback"):
        gradients, sent = inputs["gradients"], np.asarray(expected["sent"])
        owed = np.cumsum(gradients, axis=0) - np.cumsum(sent, axis=0) + sent
        for now, due in zip(sent.reshape(len(sent), -1), owed.reshape(len(sent), -1), strict=True):
            assert is_near(now[now != 0], due[now != 0])
            assert np.count_nonzero(now) == min(inputs["k"], np.count_nonzero(np.abs(due) > 1e-9))
            assert not now.any() or np.abs(due[now == 0]).max(initial=0) < np.abs(now[now != 0]).min()
        if inputs["restart"] is not None:
            rest = sent[inputs["restart"] :]
            assert is_near(expected["sent after the restart"], np.concatenate([rest, rest]))


def test_buckets_of_a_chain_are_cut_from_its_end_at_the_first_gradient_that_reaches_the_limit():
    sizes = {"scale": 32, "square": 128, "up": 512, "down": 512}
    chains = [one for one in answers("send-gradients-during-backward") if one[0]["plans"][0]]
    for inputs, expected in chains:
        steps = [name for step in inputs["plans"][0] for name in (step if isinstance(step, list) else [step])]
        kinds, used = (
            dict(inputs["parameters"]),
            [name for name in dict.fromkeys(steps) if name not in inputs["frozen"]],
        )
        events, bucket, held = [], [], 0
        for name in reversed(used):
            events.append(f"ready {name}")
            bucket.append(name)
            held += sizes[kinds[name]] // (2 if inputs["single"] else 1)
            if held >= inputs["limit"]:
                events.append(f"send [{', '.join(bucket)}]")
                bucket, held = [], 0
        events += ["finish", *([f"send [{', '.join(bucket)}]"] if bucket else [])]
        assert expected["pass 1"].rstrip() == "; ".join(events)


def test_the_linear_layer_that_asks_first_has_torchs_value_and_gradients():
    for inputs, expected in answers("only-the-gradients-asked-for"):
        named = {name: leaf(inputs[name]) for name in ("x", "weight", "bias") if name in inputs}
        y = torch.nn.functional.linear(named["x"], named["weight"], named.get("bias"))
        found = torch.autograd.grad(y, list(named.values()), torch.from_numpy(inputs["g"]))
        assert is_near(expected["y"], y.detach())
        for name, gradient in zip(named, found, strict=True):
            right = torch.zeros_like(gradient) if name in inputs["frozen"] else gradient
            assert is_near(expected[f"gradient of {name}"], right)


def test_the_loop_that_grows_expects_a_plain_training_and_its_log():
    for inputs, expected in answers("the-loop-that-grows"):
        weights, errors, losses, sizes = torch.from_numpy(inputs["start"]), [], [], []
        cuts = [size * inputs["hidden"] for size in (inputs["width"], 1, inputs["width"])]
        for _ in range(inputs["trainings"]):
            errors, losses, sizes = [], [], []
            for noisy, clean in zip(
                torch.from_numpy(inputs["noisy"]), torch.from_numpy(inputs["clean"]), strict=True
            ):
                x = weights.detach().requires_grad_()
                first, bias, second, last = x.split([*cuts, inputs["width"]])
                inner = torch.tanh(noisy @ first.view(inputs["hidden"], -1).T + bias)
                off = inner @ second.view(inputs["width"], -1).T + last - clean
                (gradient,) = torch.autograd.grad(off.square().mean(), x)
                weights = weights - inputs["lr"] * gradient
                losses.append(off.square().mean().item())
                errors.append(off.abs().mean().item())
                sizes.append(gradient[: cuts[0]].norm().item())
        powers = inputs["decay"] ** np.arange(len(errors))[::-1]
        assert is_near(expected["weights"], weights)
        assert is_near(expected["losses"], losses)
        assert is_near(expected["sizes"], sizes)
        assert is_near(expected["smoothed error"], (1 - inputs["decay"]) * np.dot(powers, errors))


def test_the_profiled_runs_reach_back_exactly_where_a_loss_leads_to_nodes_of_an_earlier_step():
    cases, host = (load("two-explanations-one-measurement", file) for file in ("cases", "host"))
    programs = [program for case in cases.draw_cases(random.Random(3)) for program in case["host"]]
    for program in programs:
        run, older, reached = host.Run(program), set(), False
        for length in (2, 1, 3, 1, 2, 1):
            run.count += 1
            loss = run.compute_loss(length)
            nodes = {node for node in reach(loss.grad_fn) if not hasattr(node, "variable")}
            loss.backward(retain_graph=program["retain"])
            reached |= bool(nodes & older)
            older |= nodes
        assert reached == (program["kind"] in cases.MISSED), program["kind"]


def test_the_nodes_that_a_profile_counts_are_those_that_the_engine_runs():
    host = load("two-explanations-one-measurement", "host")
    x = torch.ones(3, requires_grad=True)
    y = (x * 2).tanh()
    loss = (y + y * x).sum()
    counted = host.count_nodes(loss)
    with torch.profiler.profile() as profile:
        loss.backward()
    ran = [event for event in profile.events() if event.name.startswith("autograd::engine::evaluate_function")]
    assert counted == len(ran)


def reach(node: Any) -> set[Any]:
    found, waiting = {node}, [node]
    while waiting:
        new = {parent for parent, _ in waiting.pop().next_functions if parent is not None} - found
        found |= new
        waiting += new
    return found

"""Asks the learner's functions for values and gradients, with zeros among the inputs. A NaN is told as a number."""

import torch

NO_NUMBER = 1.2345e9
"""In place of NaN and infinity, which would end the comparison before anyone could say where they come from."""


def probe(submission, case):
    if case["ask"] == "train":
        places, times = torch.from_numpy(case["places"]), torch.from_numpy(case["times"])
        trained = submission.train(places, times, lr=case["lr"], steps=case["steps"])
        if not (isinstance(trained, (tuple, list)) and len(trained) == 2 and isinstance(trained[0], torch.Tensor)):
            raise TypeError("train should return the places, as a tensor, and a list of losses")
        return {"places": tell(trained[0]), "losses": [float(loss) for loss in trained[1]]}
    if case["transposed"]:
        case["inputs"] = case["inputs"].T.copy().T
    inputs = torch.from_numpy(case["inputs"]).requires_grad_(case["needs_gradient"])
    name = "safe_sqrt" if case["ask"] == "root" else "distances"
    values = getattr(submission, name)(inputs)
    if not isinstance(values, torch.Tensor):
        raise TypeError(f"{name} should return a tensor; it returned a value of type {type(values).__name__}")
    gradients = torch.zeros_like(inputs)
    if case["needs_gradient"] and values.requires_grad and values.shape == case["upstream"].shape:
        (found,) = torch.autograd.grad(values, inputs, torch.from_numpy(case["upstream"]), allow_unused=True)
        gradients = gradients if found is None else found
    return {
        "values": tell(values),
        "gradients": tell(gradients),
        "depends on the input": values.requires_grad or not case["needs_gradient"] or not values.numel(),
        "leaves a hook": bool(inputs._backward_hooks),
    }


def tell(tensor):
    tensor = tensor.detach().clone()
    tensor[~tensor.isfinite()] = NO_NUMBER
    return tensor

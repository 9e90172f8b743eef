"""Asks sample_norms for the gradient norm of each sample, on a card where the run has one."""

import torch

NAMES = ("x", "target", "w1", "b1", "w2", "b2")


def probe(submission, case):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tensors = {name: torch.from_numpy(case[name].copy()).to(device) for name in NAMES}
    for name in NAMES[2:]:
        tensors[name].requires_grad_(bool(case["marked"]))
    before = {name: tensor.detach().clone() for name, tensor in tensors.items()}
    answer = submission.sample_norms(**tensors)
    if not isinstance(answer, torch.Tensor):
        raise TypeError(f"sample_norms should return a tensor; it returned a value of type {type(answer).__name__}")
    changed = [name for name in NAMES if not torch.equal(tensors[name].detach(), before[name])]
    filled = [name for name in NAMES if tensors[name].grad is not None]
    return {
        "norms": answer.detach().cpu() + 0.0,
        "a tensor changed": bool(changed),
        "a tensor has a .grad": bool(filled),
    }

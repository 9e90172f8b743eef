"""A leaf with several uses: replace this by a program of your own, and see docs/writing-a-drill.md."""

from random import Random


def draw(rng: Random, level: int) -> dict[str, object]:
    factors = rng.sample(range(2, 60), level + 1)
    lines = ["import torch", "", f"x = torch.tensor({rng.randint(2, 9)}.0, requires_grad=True)"]
    total = ""
    for number, factor in enumerate(factors):
        lines.append(f"p{number} = x * {factor}.0")
        if total:
            lines.append(f"s{number} = {total} + p{number}")
        total = f"s{number}" if total else f"p{number}"
    lines.append(f"{total}.backward()")
    return {
        "code": "\n".join(lines),
        "observe": "gradient x",
        "answer": sum(factors),
        "last": factors[-1],
        "mean": sum(factors) / len(factors),
    }

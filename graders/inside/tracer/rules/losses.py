"""Formulas of losses; each depends on how the loss is reduced."""

from typing import Any

from .formula import Builder, Formula, Slots
from .functions import sign

MEAN = 1


def read_reduction(slots: Slots, x: Any) -> tuple[str, str]:
    """What a mean divides by, as an expression and as a reader sees it."""
    return (f" / {x.numel()}", f" / {x.numel()}") if slots["reduction"] == MEAN else ("", "")


def build_mse(slots: Slots) -> Formula:
    x, target = slots["self"], slots["target"]
    below, told = read_reduction(slots, x)
    parts = (f"ȳ * 2 * (x - t){below}", f"-ȳ * 2 * (x - t){below}")
    return Formula("xt", parts, {"x": x, "t": target}, shown=f"x̄ = ȳ * 2 * (x - target){told},   target's = -x̄")


def build_huber(slots: Slots) -> Formula:
    x, target = slots["self"], slots["target"]
    below, told = read_reduction(slots, x)
    names = {"x": x, "t": target, "d": slots["delta"]}
    parts = (f"ȳ * (x - t).clamp(-d, d){below}", f"-ȳ * (x - t).clamp(-d, d){below}")
    return Formula("xt", parts, names, shown=f"x̄ = ȳ * (x - target, cut to ±{slots['delta']:g}){told}")


def build_smooth_l1(slots: Slots) -> Formula | None:
    x, target, beta = slots["self"], slots["target"], slots["beta"]
    if beta == 0:
        return None
    below, told = read_reduction(slots, x)
    names = {"x": x, "t": target, "beta": beta}
    parts = (f"ȳ * ((x - t) / beta).clamp(-1, 1){below}", f"-ȳ * ((x - t) / beta).clamp(-1, 1){below}")
    return Formula("xt", parts, names, shown=f"x̄ = ȳ * ((x - target) / {beta:g}, cut to ±1){told}")


def build_nll(slots: Slots) -> Formula | None:
    x, target, weight = slots["self"], slots["target"], slots["weight"]
    if x.dim() != 2:
        return None
    ignored = sign(slots["ignore_index"])

    def work_out() -> dict[str, Any]:
        counted = target != ignored
        index = target * counted
        scale = counted.to(x.dtype) if weight is None else counted * weight[index]
        below = scale.sum() if slots["reduction"] == MEAN else 1
        return {"index": index.unsqueeze(1), "scale": scale, "below": below}

    part = "zeros_like(sent).scatter(1, index, (-ȳ * scale / below).unsqueeze(1))"
    by_weight = "" if weight is None else " * weight"
    over = f" / {'n' if weight is None else 'the sum of the weights'}" if slots["reduction"] == MEAN else ""
    shown = f"x̄ = -ȳ{by_weight}{over} at the target's place, else 0"
    if over and weight is None:
        shown += "   (n targets)"
    return Formula("x", (part,), {}, shown=shown, work_out=work_out)


def build_bce(slots: Slots) -> Formula:
    p, target, weight = slots["self"], slots["target"], slots["weight"]
    below, told = read_reduction(slots, p)
    by_weight = "" if weight is None else " * weight"
    names = {"p": p, "t": target, "weight": weight}
    first = f"ȳ * (p - t) / (p * (1 - p)).clamp_min(1e-12){by_weight}{below}"
    second = f"ȳ * (log(1 - p).clamp_min(-100) - log(p).clamp_min(-100)){by_weight}{below}"
    shown = f"p̄ = ȳ * (p - target) / (p * (1 - p)){by_weight}{told}"
    return Formula("pt", (first, second), names, shown=shown)


def build_bce_of_logits(slots: Slots) -> Formula:
    x, target = slots["self"], slots["target"]
    weight, positive = slots["weight"], slots["pos_weight"]
    below, told = read_reduction(slots, x)
    by_weight = "" if weight is None else " * weight"
    names = {"x": x, "t": target, "weight": weight, "w": positive}
    if positive is None:
        first, shown = "(sigmoid(x) - t)", "(σ(x) - target)"
        second = "-x"
    else:
        first = "(sigmoid(x) * (1 + (w - 1) * t) - w * t)"
        shown, second = "(σ(x) * (1 + (w - 1) * target) - w * target)", "0"
    parts = (f"ȳ * {first}{by_weight}{below}", f"ȳ * ({second}){by_weight}{below}")
    return Formula("xt", parts, names, shown=f"x̄ = ȳ * {shown}{by_weight}{told}")


LOSSES: dict[str, Builder] = {
    "MseLossBackward": build_mse,
    "HuberLossBackward": build_huber,
    "SmoothL1LossBackward": build_smooth_l1,
    "NllLossBackward": build_nll,
    "BinaryCrossEntropyBackward": build_bce,
    "BinaryCrossEntropyWithLogitsBackward": build_bce_of_logits,
}

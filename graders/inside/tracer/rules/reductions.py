"""Formulas of sums, means, largest elements, norms and what is normalised by one."""

import math
from typing import Any

from .formula import Builder, Formula, Slots, plain
from .functions import sign


def read_spread(slots: Slots, *, sized: str = "self") -> dict[str, Any]:
    """What `spread` needs: the dimensions, whether they were kept, the sizes of the input."""
    return {"dim": slots["dim"], "kept": slots["keepdim"], "sizes": slots[sized].shape}


def build_sum(slots: Slots) -> Formula:
    return Formula(
        "x", ("ȳ.expand(sizes)",), {"sizes": slots["self_sym_sizes"]}, shown="x̄ = ȳ, copied to every place of x"
    )


def build_sum_along(slots: Slots) -> Formula:
    names = {"dim": slots["dim"], "kept": slots["keepdim"], "sizes": slots["self_sym_sizes"]}
    return Formula("x", ("spread(ȳ, dim, kept, sizes)",), names, shown="x̄ = ȳ, copied to every place that was summed")


def build_mean(slots: Slots) -> Formula:
    return Formula(
        "x",
        ("ȳ / n + sent * 0",),
        {"n": slots["self_sym_numel"]},
        shown=f"x̄ = ȳ / {slots['self_sym_numel']} at every place of x",
    )


def build_mean_along(slots: Slots) -> Formula:
    sizes, dim = slots["self_sym_sizes"], slots["dim"]
    dims = dim or range(len(sizes))
    n = math.prod(sizes[sign(each)] for each in dims) if len(sizes) else 1
    names = {"dim": dim, "kept": slots["keepdim"], "sizes": sizes, "n": n}
    return Formula(
        "x", ("spread(ȳ, dim, kept, sizes) / n",), names, shown=f"x̄ = ȳ / {n} at every place that was averaged"
    )


def count_reduced(x: Any, dim: Any) -> int:
    return math.prod(x.shape[sign(each)] for each in dim) if dim else x.numel()


def build_var(slots: Slots) -> Formula:
    x, dim = slots["self"], slots["dim"]
    correction = 1 if slots["correction"] is None else slots["correction"]
    n = count_reduced(x, dim)
    names = {"x": x, "free": n - correction, **read_spread(slots)}
    below = f"{n}" if correction == 0 else f"({n} - {correction:g})"
    return Formula(
        "x",
        ("spread(ȳ, dim, kept, sizes) * 2 * (x - mean) / free",),
        names,
        shown=f"x̄ = ȳ * 2 * (x - mean) / {below}",
        work_out=lambda: {"mean": x.mean(dim, keepdim=True) if dim else x.mean()},
    )


def build_std(slots: Slots) -> Formula:
    formula = build_var(slots)
    names = {**formula.names, "y": slots["result"]}
    below = formula.shown.rpartition("/ ")[2]
    part = "spread(ȳ / y, dim, kept, sizes) * (x - mean) / free"
    return Formula("x", (part,), names, shown=f"x̄ = ȳ * (x - mean) / (y * {below})", work_out=formula.work_out)


def build_prod(slots: Slots) -> Formula:
    return Formula("x", ("ȳ * y / x",), {"x": slots["self"], "y": slots["result"]})


def build_prod_along(slots: Slots) -> Formula:
    names = {"x": slots["self"], "y": slots["result"], **read_spread(slots)}
    return Formula(
        "x", ("spread(ȳ * y, dim, kept, sizes) / x",), names, shown="x̄ = ȳ * y / x   (along the dimension)"
    )


def build_shared(which: str) -> Builder:
    """max() and amax(): equal largest elements share the gradient."""

    def build(slots: Slots) -> Formula:
        x, y = slots["self"], slots["result"]
        return Formula(
            "x",
            ("ȳ * (x == y) / (x == y).sum()",),
            {"x": x, "y": y},
            shown=f"x̄ = ȳ where x is the {which}, shared among equals, else 0",
        )

    return build


def build_shared_along(slots: Slots) -> Formula:
    spreading = read_spread(slots)
    where = "(x == spread(y, dim, kept, sizes))"
    count = f"{where}.sum(dim, keepdim=True)" if slots["dim"] else f"{where}.sum()"
    names = {"x": slots["self"], "y": slots["result"], **spreading}
    return Formula(
        "x", (f"spread(ȳ, dim, kept, sizes) * {where} / {count}",), names,
        shown="x̄ = ȳ where x is the extreme along the dimension, shared among equals, else 0",
    )  # fmt: skip


def build_chosen(slots: Slots) -> Formula:
    """max(dim), min(dim), median, topk, sort: the places that were taken get the gradient."""
    sizes, dim = slots["self_sym_sizes"], sign(slots["dim"])
    index = slots["indices"]
    is_dropped = index.dim() < len(sizes)
    names = {"sizes": sizes, "dim": dim, "index": index.unsqueeze(dim) if is_dropped else index}
    gradient = "ȳ.unsqueeze(dim)" if is_dropped else "ȳ"
    return Formula(
        "x", (f"place({gradient}, sizes, dim, index)",), names,
        shown="x̄ = zeros, with ȳ at the places that were taken (of equals, the one that was taken)",
    )  # fmt: skip


def build_norm(slots: Slots) -> Formula | None:
    x, order = slots["self"], slots["ord"]
    y = f"spread({'{}'}, dim, kept, sizes)"
    names = {"x": x, "y": slots["result"], "p": order, **read_spread(slots)}
    gradient, result = y.format("ȳ"), y.format("y")
    if order == 2:
        return Formula("x", (f"{gradient} * x / {result}",), names, shown="x̄ = ȳ * x / y   (y = ‖x‖ was saved)")
    if order == 1:
        return Formula("x", (f"{gradient} * sign(x)",), names, shown="x̄ = ȳ * sign(x)   (y = ‖x‖₁)")
    if order in (0, math.inf, -math.inf):
        return None
    part = f"{gradient} * sign(x) * (abs(x) / {result})**(p - 1)"
    return Formula("x", (part,), names, shown=f"x̄ = ȳ * sign(x) * (|x| / y)^{order - 1:g}")


def build_old_norm(slots: Slots) -> Formula | None:
    names = {"x": slots["self"], "y": slots["result"]}
    order = slots["p"]
    if order == 1:
        return Formula("x", ("ȳ * sign(x)",), names)
    return Formula("x", ("ȳ * x / y",), names, where="y = ‖x‖ was saved") if order == 2 else None


def build_logsumexp(slots: Slots) -> Formula:
    names = {"x": slots["self"], "y": slots["result"], **read_spread(slots)}
    part = "spread(ȳ, dim, kept, sizes) * exp(x - spread(y, dim, kept, sizes))"
    return Formula("x", (part,), names, shown="x̄ = ȳ * softmax(x)")


def along(part: str, shown: str, **saved: str) -> Builder:
    def build(slots: Slots) -> Formula:
        names = {letter: slots[name] for letter, name in saved.items()}
        return Formula("x", (part,), {**names, "dim": sign(slots["dim"])}, shown=shown)

    return build


REDUCTIONS: dict[str, Builder] = {
    "SumBackward0": build_sum,
    "SumBackward1": build_sum_along,
    "MeanBackward0": build_mean,
    "MeanBackward1": build_mean_along,
    "VarBackward0": build_var,
    "StdBackward0": build_std,
    "ProdBackward0": build_prod,
    "ProdBackward1": build_prod_along,
    "MaxBackward1": build_shared("largest"),
    "MinBackward1": build_shared("smallest"),
    "AmaxBackward": build_shared_along,
    "AminBackward": build_shared_along,
    "MaxBackward0": build_chosen,
    "MinBackward0": build_chosen,
    "TopkBackward": build_chosen,
    "SortBackward": build_chosen,
    "MedianBackward1": build_chosen,
    "LinalgVectorNormBackward": build_norm,
    "NormBackward0": build_old_norm,
    "LogsumexpBackward": build_logsumexp,
    "SoftmaxBackward": along(
        "y * (ȳ - (ȳ * y).sum(dim, keepdim=True))",
        "x̄ = y * (ȳ - (ȳ * y).sum())   (along the dimension; y was saved)",
        y="result",
    ),
    "LogSoftmaxBackward": along(
        "ȳ - exp(y) * ȳ.sum(dim, keepdim=True)", "x̄ = ȳ - softmax(x) * ȳ.sum()   (along the dimension)", y="result"
    ),
    "CumsumBackward": along("flip(cumsum(flip(ȳ, [dim]), dim), [dim])", "x̄ = ȳ summed from each place to the end"),
    "MaskedSelectBackward": plain(
        "x",
        "zeros_like(sent).masked_scatter(mask, ȳ)",
        mask="mask",
        shown="x̄ = zeros, with ȳ at the places that were taken",
    ),
}

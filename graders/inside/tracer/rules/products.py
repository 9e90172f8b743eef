"""Formulas of matrix products."""

from .formula import Builder, Formula, Slots, plain


def build_addmm(slots: Slots) -> Formula:
    alpha, beta = slots["alpha"], slots["beta"]
    by_alpha = "" if alpha == 1 else f" * {alpha:g}"
    by_beta = "" if beta == 1 else f" * {beta:g}"
    parts = (f"ȳ{by_beta}", f"(ȳ @ B.mT){by_alpha}", f"(A.mT @ ȳ){by_alpha}")
    shown = f"for y = b + A @ B:   b̄ = ȳ{by_beta} summed to its shape,   Ā = ȳ @ Bᵀ{by_alpha},   B̄ = Aᵀ @ ȳ{by_alpha}"
    if alpha != 1 or beta != 1:
        shown = shown.replace("b + A @ B", f"{beta:g} * b + {alpha:g} * A @ B")
    return Formula("bAB", parts, {"A": slots["mat1"], "B": slots["mat2"]}, shown=shown)


def build_baddbmm(slots: Slots) -> Formula:
    alpha, beta = slots["alpha"], slots["beta"]
    names = {"A": slots["batch1"], "B": slots["batch2"], "alpha": alpha, "beta": beta}
    return Formula("bAB", ("ȳ * beta", "ȳ @ B.mT * alpha", "A.mT @ ȳ * alpha"), names)


PRODUCTS: dict[str, Builder] = {
    "MmBackward": plain("AB", "ȳ @ B.mT", "A.mT @ ȳ", A="self", B="mat2", where="mT: transposed"),
    "BmmBackward": plain("AB", "ȳ @ B.mT", "A.mT @ ȳ", A="self", B="mat2", where="for each matrix; mT: transposed"),
    "MvBackward": plain("Av", "outer(ȳ, v)", "A.mT @ ȳ", A="self", v="vec", where="mT: transposed"),
    "DotBackward": plain("ab", "ȳ * b", "ȳ * a", a="self", b="tensor"),
    "AddmmBackward": build_addmm,
    "BaddbmmBackward": build_baddbmm,
}

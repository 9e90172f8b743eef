"""Formulas of operations that work element by element."""

from typing import Any

from .formula import Builder, Formula, Slots, plain

SUMMED = "each summed to its shape"


def scaled(first: str, second: str) -> Builder:
    """add and sub: the second operand's gradient has a factor alpha, which is mostly 1."""

    def build(slots: Slots) -> Formula:
        alpha = slots["alpha"]
        factor = "" if alpha == 1 else " * alpha"
        return Formula("ab", (first, second + factor), {"alpha": alpha}, where=SUMMED)

    return build


def build_rsub(slots: Slots) -> Formula:
    alpha = slots["alpha"]
    return Formula("x", ("-ȳ" if alpha == 1 else "-ȳ * alpha",), {"alpha": alpha})


def build_mul(slots: Slots) -> Formula:
    a, b = slots["self"], slots["other"]
    if any(each is not None and each.is_complex() for each in (a, b)):
        return Formula("ab", ("ȳ * conj(b)", "ȳ * conj(a)"), {"a": a, "b": b}, where=SUMMED)
    return Formula("ab", ("ȳ * b", "ȳ * a"), {"a": a, "b": b}, where=SUMMED)


def build_rounding_div(slots: Slots) -> Formula:
    if slots["rounding_mode"] is None:
        return Formula("ab", ("ȳ / b", "-ȳ * a / b**2"), {"a": slots["self"], "b": slots["other"]}, where=SUMMED)
    return Formula("ab", ("ȳ * 0", "ȳ * 0"), {}, where="a rounded quotient does not move")


def build_pow(slots: Slots) -> Formula:
    n = slots["exponent"]
    if n == 2:
        return Formula("x", ("ȳ * 2 * x",), {"x": slots["self"], "n": n})
    return Formula("x", ("ȳ * n * x**(n - 1)",), {"x": slots["self"], "n": n})


def build_clamp(slots: Slots) -> Formula:
    low, high = slots["min"], slots["max"]
    inside = " & ".join(each for each, bound in (("(x >= low)", low), ("(x <= high)", high)) if bound is not None)
    return Formula("x", (f"ȳ * ({inside})",), {"x": slots["self"], "low": low, "high": high})


def build_gelu(slots: Slots) -> Formula:
    x: Any = slots["self"]
    if slots["approximate"] == "none":
        part = "ȳ * ((1 + erf(x / 2**0.5)) / 2 + x * exp(-x**2 / 2) / 6.283185307179586**0.5)"
        return Formula("x", (part,), {"x": x}, shown="x̄ = ȳ * (Φ(x) + x * φ(x))")
    inner = "(0.7978845608028654 * (x + 0.044715 * x**3))"
    slope = "0.7978845608028654 * (1 + 0.134145 * x**2)"
    part = f"ȳ * ((1 + tanh{inner}) / 2 + x * (1 - tanh{inner}**2) * {slope} / 2)"
    shown = "x̄ = ȳ * ((1 + t) / 2 + x * (1 - t²) * u̇ / 2),   t = tanh(u),   u = √(2/π) * (x + 0.044715 * x³)"
    return Formula("x", (part,), {"x": x}, shown=shown)


def build_elu(slots: Slots) -> Formula | None:
    if slots["scale"] != 1 or slots["input_scale"] != 1:
        return None
    return Formula(
        "x", ("ȳ * where(x > 0, x * 0 + 1, alpha * exp(x))",), {"x": slots["self"], "alpha": slots["alpha"]}
    )


def build_softplus(slots: Slots) -> Formula:
    names = {"x": slots["self"], "beta": slots["beta"], "limit": slots["threshold"]}
    part = "ȳ * where(x * beta > limit, x * 0 + 1, sigmoid(beta * x))"
    shown = "x̄ = ȳ * σ(x)" if slots["beta"] == 1 else "x̄ = ȳ * σ(beta * x)"
    return Formula("x", (part,), names, shown=shown)


ELEMENTWISE: dict[str, Builder] = {
    "AddBackward0": scaled("ȳ", "ȳ"),
    "AddBackward1": plain("x", "ȳ"),
    "SubBackward0": scaled("ȳ", "-ȳ"),
    "SubBackward1": plain("x", "ȳ"),
    "RsubBackward": build_rsub,
    "MulBackward0": build_mul,
    "DivBackward0": plain("ab", "ȳ / b", "-ȳ * a / b**2", a="self", b="other", where=SUMMED),
    "DivBackward2": build_rounding_div,
    "ReciprocalBackward": plain("x", "-ȳ * y**2", y="result"),
    "PowBackward0": build_pow,
    "PowBackward1": plain(
        "an", "ȳ * n * a**(n - 1)", "ȳ * y * log(a)", a="self", n="exponent", y="result", where=SUMMED
    ),
    "PowBackward2": lambda slots: Formula(
        "n", ("ȳ * y * log(a + n * 0)",), {"a": slots["self"], "n": slots["exponent"], "y": slots["result"]},
        shown="n̄ = ȳ * y * ln(a)   for y = aⁿ",
    ),
    "NegBackward": plain("x", "-ȳ"),
    "ExpBackward": plain("x", "ȳ * y", y="result", where="y = exp(x) was saved"),
    "Expm1Backward": plain("x", "ȳ * (y + 1)", y="result"),
    "LogBackward": plain("x", "ȳ / x", x="self"),
    "Log1PBackward": plain("x", "ȳ / (x + 1)", x="self"),
    "SqrtBackward": plain("x", "ȳ / (2 * y)", y="result", where="y was saved"),
    "RsqrtBackward": plain("x", "-ȳ * y**3 / 2", y="result", where="y was saved"),
    "AbsBackward": plain("x", "ȳ * sign(x)", x="self"),
    "SinBackward": plain("x", "ȳ * cos(x)", x="self"),
    "CosBackward": plain("x", "-ȳ * sin(x)", x="self"),
    "TanBackward": plain("x", "ȳ * (1 + y**2)", y="result"),
    "TanhBackward": plain("x", "ȳ * (1 - y**2)", y="result", where="y was saved"),
    "SigmoidBackward": plain("x", "ȳ * y * (1 - y)", y="result", where="y was saved"),
    "ErfBackward": plain("x", "ȳ * 1.1283791670955126 * exp(-x**2)", x="self"),
    "ReluBackward": plain("x", "ȳ * (y > 0)", y="result"),
    "LeakyReluBackward": plain("x", "ȳ * where(x > 0, x * 0 + 1, x * 0 + slope)", x="self", slope="negative_slope"),
    "GeluBackward": build_gelu,
    "SiluBackward": plain("x", "ȳ * sigmoid(x) * (1 + x * (1 - sigmoid(x)))", x="self"),
    "EluBackward": build_elu,
    "SoftplusBackward": build_softplus,
    "LogSigmoidBackward": plain("x", "ȳ * sigmoid(-x)", x="self"),
    "ClampBackward": build_clamp,
    "ClampMinBackward": plain("x", "ȳ * (x >= low)", x="self", low="min"),
    "MaximumBackward": plain(
        "ab", "ȳ * ((a > b) + (a == b) / 2)", "ȳ * ((b > a) + (a == b) / 2)", a="self", b="other",
    ),
    "MinimumBackward": plain(
        "ab", "ȳ * ((a < b) + (a == b) / 2)", "ȳ * ((b < a) + (a == b) / 2)", a="self", b="other",
    ),
    "WhereBackward": plain(
        "ab", "ȳ * chosen", "ȳ * (chosen == 0)", chosen="condition", where="chosen: where the condition holds"
    ),
    "MaskedFillBackward": plain("xv", "ȳ * (mask == 0)", "(ȳ * mask).sum()", mask="mask"),
    "Atan2Backward": plain("ab", "ȳ * b / (a**2 + b**2)", "-ȳ * a / (a**2 + b**2)", a="self", b="other"),
    "LerpBackward0": plain("ab", "ȳ * (1 - w)", "ȳ * w", w="weight"),
    "RoundBackward": plain("x", "ȳ * 0", where="a rounded number does not move"),
    "FloorBackward": plain("x", "ȳ * 0", where="a rounded number does not move"),
    "CeilBackward": plain("x", "ȳ * 0", where="a rounded number does not move"),
    "SignBackward": plain("x", "ȳ * 0", where="a sign does not move"),
}  # fmt: skip

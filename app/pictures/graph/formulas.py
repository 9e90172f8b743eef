"""The vector-Jacobian products, one line each: how a node computes its inputs' gradients from its output's gradient.

A bar marks a gradient: `ȳ` is the gradient of the output and `x̄` that of an input. "Summed to its shape" undoes a
broadcast. The formulas are only for reading; torch computes the numbers on the page.
"""

from dataclasses import dataclass
from types import MappingProxyType

UNKNOWN = "x̄ = ȳ · ∂y/∂x, as this operation's own backward computes it"

UNKNOWN_RULE = "x̄ = ȳ * ∂y/∂x, as this engine's own rule computes it"

FORMULAS = MappingProxyType(
    {
        "abs": "x̄ = ȳ * sign(x)",
        "add": "ā = ȳ,   b̄ = ȳ * alpha   (each summed to its shape)",
        "addmm": "with y = x @ Wᵀ + b:   x̄ = ȳ @ W,   W̄ = ȳᵀ @ x,   b̄ = ȳ summed over rows",
        "amax": "x̄ = ȳ where x is the largest (shared among equals), else 0",
        "bmm": "Ā = Ȳ @ Bᵀ,   B̄ = Aᵀ @ Ȳ   for each matrix of the batch",
        "cat": "each x̄ = its slice of ȳ",
        "chunk": "x̄ = the parts of ȳ, put together",
        "clamp": "x̄ = ȳ where min <= x <= max, else 0",
        "clone": "x̄ = ȳ",
        "copy_slices": "the base gets ȳ with zeros where it was overwritten; the written value gets the rest",
        "cos": "x̄ = -ȳ * sin(x)",
        "div": "ā = ȳ / b,   b̄ = -ȳ * a / b²",
        "dot": "ā = ȳ * b,   b̄ = ȳ * a",
        "embedding": "row i of W̄ = the sum of ȳ over all places that looked up i",
        "exp": "x̄ = ȳ * y   (y = exp(x) was saved)",
        "expand": "x̄ = ȳ summed over the broadcast dimensions",
        "gelu": "x̄ = ȳ * (Φ(x) + x * φ(x))   (not its tanh approximation)",
        "index": "x̄ = zeros, with ȳ added at the places that were taken",
        "index_put": "x̄ = ȳ, with zeros at the places that were overwritten",
        "linear": "with y = x @ Wᵀ + b:   x̄ = ȳ @ W,   W̄ = ȳᵀ @ x,   b̄ = ȳ summed over rows",
        "log": "x̄ = ȳ / x",
        "log_softmax": "x̄ = ȳ - softmax(x) * ȳ.sum()   (along the dimension)",
        "logsumexp": "x̄ = ȳ * softmax(x)",
        "matmul": "Ā = Ȳ @ Bᵀ,   B̄ = Aᵀ @ Ȳ",
        "max": "x̄ = ȳ at the largest element, else 0   (max() shares it among equals)",
        "mean": "x̄ = ȳ / n for each of the n elements",
        "min": "x̄ = ȳ at the smallest element, else 0   (min() shares it among equals)",
        "mm": "Ā = Ȳ @ Bᵀ,   B̄ = Aᵀ @ Ȳ",
        "mse_loss": "x̄ = ȳ * 2 * (x - target) / n   (n is 1 for a sum)",
        "mul": "ā = ȳ * b,   b̄ = ȳ * a   (each summed to its shape)",
        "mv": "Ā = outer(ȳ, v),   v̄ = Aᵀ @ ȳ",
        "native_layer_norm": "x̄ = (ĝ - mean(ĝ) - x̂ * mean(ĝ * x̂)) / std,   ĝ = ȳ * weight, x̂ normalised x",
        "neg": "x̄ = -ȳ",
        "nll_loss": "x̄ = -ȳ * weight / their sum at the target's place, else 0   (not divided for a sum)",
        "norm": "x̄ = ȳ * x / ‖x‖   (for the Euclidean norm)",
        "permute": "x̄ = ȳ with its dimensions put back",
        "pow": "x̄ = ȳ * n * x^(n-1)",
        "relu": "x̄ = ȳ where y > 0, else 0",
        "reshape": "x̄ = ȳ in the shape of x",
        "rsub": "for y = other - x:   x̄ = -ȳ",
        "select": "x̄ = zeros, with ȳ at the place that was taken",
        "sigmoid": "x̄ = ȳ * y * (1 - y)   (y was saved)",
        "silu": "x̄ = ȳ * σ(x) * (1 + x * (1 - σ(x)))",
        "sin": "x̄ = ȳ * cos(x)",
        "slice": "x̄ = zeros, with ȳ at the places that were taken",
        "softmax": "x̄ = y * (ȳ - (ȳ * y).sum())   (along the dimension; y was saved)",
        "split": "x̄ = the parts of ȳ, put together",
        "sqrt": "x̄ = ȳ / (2 * y)   (y was saved)",
        "square": "x̄ = ȳ * 2 * x",
        "squeeze": "x̄ = ȳ in the shape of x",
        "stack": "each x̄ = its slice of ȳ",
        "sub": "ā = ȳ,   b̄ = -ȳ * alpha   (each summed to its shape)",
        "sum": "x̄ = ȳ, copied to every place of x",
        "t": "x̄ = ȳᵀ",
        "tanh": "x̄ = ȳ * (1 - y²)   (y was saved)",
        "transpose": "x̄ = ȳ with the two dimensions changed back",
        "unbind": "x̄ = the parts of ȳ, stacked",
        "unsqueeze": "x̄ = ȳ in the shape of x",
        "var": "x̄ = ȳ * 2 * (x - mean) / (n - 1)   (n with unbiased=False)",
        "view": "x̄ = ȳ in the shape of x",
        "where": "ā = ȳ where the condition holds, else 0;   b̄ = the other way round",
    }
)

_SAME = MappingProxyType(
    {
        "_log_softmax": "log_softmax",
        "_softmax": "softmax",
        "_unsafe_view": "view",
        "add_": "add",
        "baddbmm": "bmm",
        "convert": "clone",
        "cross_entropy": "nll_loss",
        "flatten": "reshape",
        "layer_norm": "native_layer_norm",
        "mul_": "mul",
        "reshape_alias": "reshape",
        "safe_softmax": "softmax",
        "sub_": "sub",
        "to_copy": "clone",
        "unsafe_view": "view",
    }
)

_SYMBOLS = MappingProxyType({"-": "sub", "*": "mul", "/": "div", "@": "matmul"})


ANY, CUSTOM, ACCUMULATE = "any", "custom", "accumulate"
RULES = frozenset({*FORMULAS, ANY, CUSTOM, ACCUMULATE})
"""The rule names with which a course links to explanations; `any` covers every rule that the course does not name."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A line of text, and the name of its rule: `any` if no formula here covers the operation."""

    rule: str
    text: str


ADDED = Formula(ACCUMULATE, "x.grad = x.grad + ȳ")


def find_formula(forward: str, backward: str, kind: str) -> Formula:
    """The line for a node, found by autograd's name for it, else by the function that the learner called."""
    if kind == "leaf":
        return ADDED
    if kind == "custom":
        return Formula(CUSTOM, "what the Function's own backward returns")
    for name in (backward, forward, forward.rstrip("_")):
        rule = _SAME.get(name, name)
        if rule in FORMULAS:
            return Formula(rule, FORMULAS[rule])
    return Formula(ANY, UNKNOWN)


def find_scalar_formula(operation: str, kind: str) -> Formula:
    """The correct formula for an engine's `_op` on numbers. The learner's own rule may compute something else."""
    if kind == "leaf":
        return ADDED
    if operation == "+":
        return Formula("add", "ā = ȳ,   b̄ = ȳ")
    name = _SYMBOLS.get(operation.strip().lower(), operation.strip().lower())
    rule = "pow" if name.startswith("**") else name
    # The part in brackets is about broadcasting and what torch saves; neither applies to plain numbers.
    return Formula(rule, FORMULAS[rule].split("   (")[0]) if rule in FORMULAS else Formula(ANY, UNKNOWN_RULE)

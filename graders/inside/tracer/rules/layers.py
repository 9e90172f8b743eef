"""Formulas of layers: convolution, normalisation, pooling, attention, LSTM."""

from typing import Any

from .adjoints import convolve_back, weigh_convolution
from .formula import Builder, Formula, Slots
from .recurrent import unwind_lstm


def build_convolution(slots: Slots) -> Formula:
    names: dict[str, Any] = {
        "x": slots["input"],
        "W": slots["weight"],
        "back": convolve_back,
        "weigh": weigh_convolution,
        "how": tuple(slots[name] for name in ("stride", "padding", "dilation", "groups", "transposed")),
    }
    parts = ("back(ȳ, W, sent.shape, how)", "weigh(ȳ, x, sent.shape, how)", "ȳ.transpose(0, 1).flatten(1).sum(1)")
    shown = "x̄ = ȳ convolved with W turned round,   W̄ = x correlated with ȳ,   b̄ = ȳ summed over batch and places"
    return Formula("xWb", parts, names, shown=shown)


NORMALISED = "x̄ = (ĝ - mean(ĝ) - x̂ * mean(ĝ * x̂)) / std,   ĝ = ȳ * weight, x̂ normalised x"


def build_layer_norm(slots: Slots) -> Formula:
    x, weight = slots["input"], slots["weight"]
    dims = tuple(range(x.dim() - len(slots["normalized_shape"]), x.dim()))
    names = {"w": 1.0 if weight is None else weight, "r": slots["result2"], "dims": dims}
    first = "(ȳ * w - (ȳ * w).mean(dims, True) - x * (ȳ * w * x).mean(dims, True)) * r"

    def work_out() -> dict[str, Any]:
        return {"x": (x - slots["result1"]) * slots["result2"]}

    return Formula("xwb", (first, "ȳ * x", "ȳ"), names, shown=NORMALISED, work_out=work_out)


def build_batch_norm(slots: Slots) -> Formula:
    x, weight = slots["input"], slots["weight"]
    sizes = (1, -1, *(1 for _ in x.shape[2:]))
    dims = (0, *range(2, x.dim()))
    first = "(ȳ - ȳ.mean(dims, True) - x * (ȳ * x).mean(dims, True)) * w * r" if slots["training"] else "ȳ * w * r"

    def work_out() -> dict[str, Any]:
        mean, scale = slots["result1"], slots["result2"]
        if not slots["training"]:
            mean, scale = slots["running_mean"], (slots["running_var"] + slots["eps"]) ** -0.5
        return {
            "x": (x - mean.view(sizes)) * scale.view(sizes),
            "w": 1.0 if weight is None else weight.view(sizes),
            "r": scale.view(sizes),
        }

    shown = (
        NORMALISED
        if slots["training"]
        else "x̄ = ȳ * weight / running std   (in eval mode the statistics do not move)"
    )
    parts = (first, "(ȳ * x).sum(dims)", "ȳ.sum(dims)")
    return Formula("xwb", parts, {"dims": dims}, shown=shown, work_out=work_out)


def build_group_norm(slots: Slots) -> Formula:
    x, weight, groups = slots["input"], slots["weight"], slots["group"]
    grouped = (x.shape[0], groups, -1)

    def work_out() -> dict[str, Any]:
        mean, scale = (slots[name].view(x.shape[0], groups, 1) for name in ("result1", "result2"))
        return {
            "x": ((x.reshape(grouped) - mean) * scale).view(x.shape),
            "w": 1.0 if weight is None else weight.view(1, -1, *(1 for _ in x.shape[2:])),
            "r": scale,
        }

    g, h = "(ȳ * w).reshape(grouped)", "x.reshape(grouped)"
    first = f"(({g} - {g}.mean(2, True) - {h} * ({g} * {h}).mean(2, True)) * r).reshape(sent.shape)"
    names = {"dims": (0, *range(2, x.dim())), "grouped": grouped}
    parts = (first, "(ȳ * x).sum(dims)", "ȳ.sum(dims)")
    return Formula("xwb", parts, names, shown=f"{NORMALISED}   (in each group)", work_out=work_out)


def build_max_pool(slots: Slots) -> Formula:
    part = "zeros_like(sent).flatten(-2).scatter_add(-1, index.flatten(-2), ȳ.flatten(-2)).view(sent.shape)"
    return Formula(
        "x", (part,), {"index": slots["result1"]}, shown="x̄ = zeros, with ȳ at the largest element of each window"
    )


def build_average_pool(slots: Slots) -> Formula | None:
    if slots["ceil_mode"] or (any(slots["padding"]) and not slots["count_include_pad"]):
        return None
    kernel = slots["kernel_size"]
    count = slots["divisor_override"] or kernel[0] * kernel[1]
    channels = slots["self"].shape[-3]
    names: dict[str, Any] = {
        "back": convolve_back,
        "how": (slots["stride"] or kernel, slots["padding"], (1, 1), channels, False),
    }

    def work_out() -> dict[str, Any]:
        return {"W": slots["self"].new_ones(channels, 1, *kernel) / count}

    shown = f"x̄ = at each place the sum of ȳ / {count} over the windows that hold it"
    return Formula("x", ("back(ȳ, W, sent.shape, how)",), names, shown=shown, work_out=work_out)


def build_adaptive_average(slots: Slots) -> Formula:
    part = "spread_windows(ȳ, sent.shape)"
    return Formula(
        "x",
        (part,),
        {"spread_windows": spread_windows},
        shown="x̄ = at each place the sum of ȳ / n over the windows that hold it, n places each",
    )


def spread_windows(gradient: Any, shape: Any) -> Any:
    """The gradient of an adaptive average: each window's share, at each of its places."""
    found = gradient.new_zeros(tuple(shape))
    (height, width), (rows, columns) = shape[-2:], gradient.shape[-2:]
    for row in range(rows):
        top, bottom = row * height // rows, -(-(row + 1) * height // rows)
        for column in range(columns):
            left, right = column * width // columns, -(-(column + 1) * width // columns)
            share = gradient[..., row, column] / ((bottom - top) * (right - left))
            found[..., top:bottom, left:right] += share[..., None, None]
    return found


def build_attention(slots: Slots) -> Formula | None:
    if slots["dropout_p"]:
        return None
    q, k, v = slots["query"], slots["key"], slots["value"]
    scale = slots["scale"] if slots["scale"] is not None else q.shape[-1] ** -0.5

    def work_out() -> dict[str, Any]:
        scores = q @ k.mT * scale
        if slots["attn_mask"] is not None:
            scores = scores + slots["attn_mask"]
        if slots["is_causal"]:
            scores = scores + scores.new_full(scores.shape[-2:], float("-inf")).triu(1)
        return {"P": scores.softmax(-1)}

    names = {"Q": q, "K": k, "V": v, "scale": scale}
    inner = "P * (ȳ @ V.mT - (ȳ @ V.mT * P).sum(-1, keepdim=True))"
    parts = (f"({inner}) @ K * scale", f"({inner}).mT @ Q * scale", "P.mT @ ȳ")
    shown = (
        "P = softmax(Q @ Kᵀ * s):   V̄ = Pᵀ @ ȳ,   P̄ = ȳ @ Vᵀ,   S̄ = P * (P̄ - rowsum(P̄ * P)),   "
        "Q̄ = S̄ @ K * s,   K̄ = S̄ᵀ @ Q * s"
    )
    return Formula("QKV", parts, names, shown=shown, work_out=work_out)


LSTM = 2


def build_lstm(slots: Slots) -> Formula | None:
    if slots["mode"] != LSTM or slots["num_layers"] != 1 or slots["batch_sizes"]:
        return None
    given = tuple(slots[name] for name in ("input", "weight0", "weight1", "weight2", "weight3", "hx_", "cx_"))
    names: dict[str, Any] = {"unwind": unwind_lstm, "given": given, "reverse": slots["reverse"]}
    parts = tuple(f"unwind(ȳs, given, reverse)[{at}]" for at in range(len(given)))
    shown = (
        "from the last time step to the first: c̄ₜ += h̄ₜ * o * (1 - tanh²(cₜ)), each gate's by its own slope, "
        "then h̄ₜ₋₁ = gates @ U and c̄ₜ₋₁ = c̄ₜ * f"
    )
    return Formula("xwubdhc", parts, names, shown=shown)


LAYERS: dict[str, Builder] = {
    "ConvolutionBackward": build_convolution,
    "NativeLayerNormBackward": build_layer_norm,
    "NativeBatchNormBackward": build_batch_norm,
    "NativeGroupNormBackward": build_group_norm,
    **dict.fromkeys(("MaxPool2DWithIndicesBackward", "AdaptiveMaxPool2DBackward"), build_max_pool),
    "AvgPool2DBackward": build_average_pool,
    "AdaptiveAvgPool2DBackward": build_adaptive_average,
    "ScaledDotProductFlashAttentionForCpuBackward": build_attention,
    "MkldnnRnnLayerBackward": build_lstm,
}

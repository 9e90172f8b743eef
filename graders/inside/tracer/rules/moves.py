"""Formulas of operations that move numbers and compute none: views, slices, joins, lookups."""

from typing import Any

from .formula import Builder, Formula, Slots, plain
from .functions import sign

SLICED = "each x̄ = its slice of ȳ"
JOINED = "x̄ = the parts of ȳ, put together"
ADDED = "x̄ = zeros, with ȳ added at the places that were taken"


def build_select(slots: Slots) -> Formula:
    names = {"sizes": slots["self_sym_sizes"], "dim": sign(slots["dim"]), "index": sign(slots["index"])}
    part = "zeros_like(sent).select_scatter(ȳ, dim, index)"
    return Formula("x", (part,), names, shown="x̄ = zeros, with ȳ at the place that was taken")


def build_slice(slots: Slots) -> Formula:
    dim = sign(slots["dim"])
    end = min(sign(slots["end"]), slots["self_sym_sizes"][dim]) if sign(slots["end"]) >= 0 else sign(slots["end"])
    names = {"dim": dim, "start": sign(slots["start"]), "end": end, "step": slots["step"]}
    part = "zeros_like(sent).slice_scatter(ȳ, dim, start, end, step)"
    return Formula("x", (part,), names, shown="x̄ = zeros, with ȳ at the places that were taken")


def build_index(slots: Slots) -> Formula:
    part = "add_at(zeros_like(sent), index, ȳ)"
    return Formula("x", (part,), {"index": slots["indices"]}, shown=ADDED)


def build_cat(slots: Slots) -> Formula:
    return Formula("x", ("part_of_cat(ȳ, dim, outgoing, slot)",), {"dim": sign(slots["dim"])}, shown=SLICED)


def build_stack(slots: Slots) -> Formula:
    return Formula("x", ("ȳ.select(dim, slot)",), {"dim": sign(slots["dim"])}, shown=SLICED)


def build_split(slots: Slots) -> Formula:
    return Formula("x", ("cat(ȳs, dim)",), {"dim": sign(slots["dim"])}, shown=JOINED)


def build_unbind(slots: Slots) -> Formula:
    return Formula("x", ("stack(ȳs, dim)",), {"dim": sign(slots["dim"])}, shown=JOINED)


def build_permute(slots: Slots) -> Formula:
    dims = [sign(each) % len(slots["dims"]) for each in slots["dims"]]
    return Formula("x", ("ȳ.permute(invert(dims))",), {"dims": dims}, shown="x̄ = ȳ with its dimensions put back")


def build_transpose(slots: Slots) -> Formula:
    names = {"one": sign(slots["dim0"]), "other": sign(slots["dim1"])}
    return Formula("x", ("ȳ.transpose(one, other)",), names, shown="x̄ = ȳ with the two dimensions changed back")


def build_scatter(slots: Slots) -> Formula:
    names = {"dim": sign(slots["dim"]), "index": slots["index"]}
    parts = ("ȳ.scatter(dim, index, 0.0)", "ȳ.gather(dim, index)[tuple(map(slice, sent.shape))]")
    shown = "x̄ = ȳ, with zeros at the places that were overwritten;   s̄ = ȳ at those places"
    return Formula("xs", parts, names, shown=shown)


def build_scatter_add(slots: Slots) -> Formula:
    names = {"dim": sign(slots["dim"]), "index": slots["index"]}
    parts = ("ȳ", "ȳ.gather(dim, index)[tuple(map(slice, sent.shape))]")
    return Formula("xs", parts, names, shown="x̄ = ȳ;   s̄ = ȳ at the places where s was added")


def build_gather(slots: Slots) -> Formula:
    names = {"dim": sign(slots["dim"]), "index": slots["index"]}
    return Formula("x", ("zeros_like(sent).scatter_add(dim, index, ȳ)",), names, shown=ADDED)


def build_index_select(slots: Slots) -> Formula:
    names = {"dim": sign(slots["dim"]), "index": slots["index"]}
    return Formula("x", ("zeros_like(sent).index_add(dim, index, ȳ)",), names, shown=ADDED)


def build_index_add(slots: Slots) -> Formula:
    names = {"dim": sign(slots["dim"]), "index": slots["index"], "alpha": slots["alpha"]}
    parts = ("ȳ", "ȳ.index_select(dim, index) * alpha")
    return Formula("xs", parts, names, shown="x̄ = ȳ;   s̄ = ȳ at the places where s was added")


def build_index_put(slots: Slots) -> Formula:
    index = slots["indices"]
    names: dict[str, Any] = {"index": tuple(slice(None) if each is None else each for each in index)}
    if slots["accumulate"]:
        return Formula("xv", ("ȳ", "ȳ[index]"), names, shown="x̄ = ȳ;   v̄ = ȳ at the places where v was added")
    parts = ("ȳ.index_put(index, ȳ.sum() * 0)", "ȳ[index]")
    shown = "x̄ = ȳ, with zeros at the places that were overwritten;   v̄ = ȳ at those places"
    return Formula("xv", parts, names, shown=shown)


def build_embedding(slots: Slots) -> Formula | None:
    if slots["scale_grad_by_freq"] or slots["sparse"]:
        return None
    skipped = sign(slots["padding_idx"])
    shown = "row i of W̄ = the sum of ȳ over all places that looked up i"
    if skipped >= 0:
        shown += f", except row {skipped}"
    part = "zeros_like(sent).index_add(0, index.flatten(), (ȳ * (index != skipped).unsqueeze(-1)).flatten(0, -2))"
    return Formula("W", (part,), {"index": slots["indices"], "skipped": skipped}, shown=shown)


def build_pad(slots: Slots) -> Formula:
    pad = [-sign(each) for each in slots["pad"]]
    return Formula("x", ("pad_with(ȳ, pad)",), {"pad": pad}, shown="x̄ = ȳ without its border")


def build_repeat(slots: Slots) -> Formula:
    names = {"repeats": slots["repeats"], "sizes": slots["self_sym_sizes"]}
    return Formula("x", ("fold_repeats(ȳ, repeats, sizes)",), names, shown="x̄ = the sum of ȳ over all copies")


SAME_SHAPE = "ȳ.reshape(sent.shape)"
VIEWED = plain("x", SAME_SHAPE, shown="x̄ = ȳ in the shape of x")

MOVES: dict[str, Builder] = {
    **dict.fromkeys(("ViewBackward", "UnsafeViewBackward", "ReshapeAliasBackward"), VIEWED),
    **dict.fromkeys(("UnsqueezeBackward", "SqueezeBackward"), VIEWED),
    **dict.fromkeys(("CloneBackward", "AliasBackward"), plain("x", "ȳ")),
    **dict.fromkeys(
        ("ToCopyBackward", "CopyBackwards"), plain("x", "ȳ.to(sent.dtype)", shown="x̄ = ȳ in the type of x")
    ),
    "TBackward": plain("x", "ȳ.t()", shown="x̄ = ȳᵀ"),
    "TransposeBackward0": build_transpose,
    "PermuteBackward": build_permute,
    "ExpandBackward": plain("x", "ȳ", where="summed over the broadcast dimensions"),
    "RepeatBackward": build_repeat,
    "SelectBackward": build_select,
    "SliceBackward": build_slice,
    "IndexBackward": build_index,
    "GatherBackward": build_gather,
    "ScatterBackward0": build_scatter,
    "ScatterAddBackward": build_scatter_add,
    "IndexSelectBackward": build_index_select,
    "IndexAddBackward": build_index_add,
    "IndexPutBackward": build_index_put,
    "EmbeddingBackward": build_embedding,
    "ConstantPadNdBackward": build_pad,
    "FlipBackward": plain("x", "flip(ȳ, dims)", dims="dims"),
    "RollBackward": lambda slots: Formula(
        "x",
        ("roll(ȳ, back, dims)",),
        {"back": tuple(-sign(each) for each in slots["shifts"]), "dims": slots["dims"] or None},
        shown="x̄ = ȳ, rolled back",
    ),
    "CatBackward": build_cat,
    "StackBackward": build_stack,
    **dict.fromkeys(("SplitBackward", "SplitWithSizesBackward", "UnsafeSplitBackward"), build_split),
    "UnbindBackward": build_unbind,
    "TrilBackward": plain("x", "tril(ȳ, k)", k="diagonal"),
    "TriuBackward": plain("x", "triu(ȳ, k)", k="diagonal"),
}

"""Recognises calls after which a tracked value is no longer tracked, and says how it left the graph."""

from dataclasses import dataclass
from typing import Any

import torch

_BY_FUNCTION = {
    "detach": "detach",
    "detach_": "detach",
    "detach_copy": "detach",
    "tensor": "detach",
    "as_tensor": "detach",
    "asarray": "detach",
    "scalar_tensor": "detach",
    "item": "item",
    "tolist": "tolist",
    "numpy": "numpy",
    "__array__": "numpy",
    "__float__": "float",
    "__complex__": "float",
    "__format__": "format",
    "__int__": "integer",
    "__index__": "integer",
    "__bool__": "comparison",
    "is_nonzero": "comparison",
    "equal": "comparison",
    "allclose": "comparison",
}
CUTS_INSIDE = torch.nn.functional.gumbel_softmax
_VIEWING_PROPERTIES = frozenset({"T", "mT", "H", "mH", "real", "imag"})
_LIKE = ("_like", "new_")
_SAYS_NOTHING = frozenset({"grad", "requires_grad_", "retain_grad", "register_hook", "share_memory_", "__set__"})


@dataclass(frozen=True)
class Cut:
    """How a tracked tensor left the graph, and the tensor, which is held only while the cut is noted.

    `function` is the node that made it, if the tensor itself was never returned to the program.
    """

    kind: str
    tensor: Any
    function: Any = None


def find_inner_cut(function: Any, kwargs: dict[str, Any] | None, result: Any) -> Cut | None:
    """The cut inside one of torch's own functions that returns a tracked result; its inner calls are not observed.

    One of torch's functions written in Python does so: a hard gumbel_softmax returns hard - soft.detach() + soft.
    """
    if function is not CUTS_INSIDE or not (kwargs or {}).get("hard"):
        return None
    soft = [node for node, _ in result.grad_fn.next_functions if node is not None]
    return Cut("detach", result, soft[-1]) if soft else None


def name_function(function: Any) -> str:
    """The function's short name; a property's name for its getter."""
    name = getattr(function, "__name__", "") or ""
    if name == "__get__":
        return str(getattr(getattr(function, "__self__", None), "__name__", name))
    return str(name)


def reads_values(function: Any) -> bool:
    """Whether a function hands out a tensor's numbers, whatever it returns them as."""
    return name_function(function) in _BY_FUNCTION


def find_cut(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None, result: Any) -> Cut | None:
    """The cut that this call made, or None. Call it only where the call made no node."""
    name = name_function(function)
    kind = _BY_FUNCTION.get(name)
    is_getter = getattr(function, "__name__", "") == "__get__"
    if is_getter:
        kind = "data" if name == "data" else None
        if kind is None and name not in _VIEWING_PROPERTIES:
            return None
    if kind is None and not _may_cut(name, result):
        return None
    tensor = args[0] if name == "detach_" else find_tracked(args, kwargs)
    if tensor is None or (kind == "format" and tensor.dim() > 0):
        return None  # a tensor of several numbers is printed, and no number leaves it
    kind = kind or _classify(args, result)
    return None if kind is None else Cut(kind, tensor)


def _may_cut(name: str, result: Any) -> bool:
    if name in _SAYS_NOTHING or name.startswith(_LIKE[1]) or name.endswith(_LIKE[0]):
        return False
    results = result if isinstance(result, (tuple, list)) else (result,)
    tensors = [each for each in results if isinstance(each, torch.Tensor)]
    return bool(tensors) and tensors[0] is results[0] and not any(each.requires_grad for each in tensors)


def _classify(args: tuple[Any, ...], result: Any) -> str | None:
    first = result[0] if isinstance(result, (tuple, list)) else result
    if any(first is given for given in args):
        return None  # an in-place call on a tensor that was never tracked
    if first.dtype == torch.bool:
        return "comparison"
    if not (first.is_floating_point() or first.is_complex()):
        return "integer"
    if torch.is_inference_mode_enabled():
        return "inference_mode"
    return None if torch.is_grad_enabled() else "no_grad"


def find_tracked(args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """The first argument that is tracked, looking one list deep."""
    for given in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(given, torch.Tensor):
            if given.requires_grad:
                return given
        elif isinstance(given, (tuple, list)):
            for part in given:
                if isinstance(part, torch.Tensor) and part.requires_grad:
                    return part
    return None

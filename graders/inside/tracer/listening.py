"""Observes every torch call of the program: notes which nodes it made, cuts and small values.

This is the program's hot path: every torch call pays for each line here.
"""

import sys
from threading import get_ident
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode

from .cuts import CUTS_INSIDE, Cut, find_cut, find_inner_cut, name_function, reads_values
from .foreign import tag_foreign
from .naming import is_inplace_call

if TYPE_CHECKING:
    from .recorder import Recorder

read_counter = torch._C._autograd._get_sequence_nr
_are_transforms_active = torch._C._are_functorch_transforms_active
_DETACH_IN_PLACE = torch.Tensor.detach_
_STARTS_BACKWARD = frozenset({torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad})
_ASKS = frozenset({torch.Tensor.register_hook, torch.Tensor.retain_grad})
_WITHOUT_GRADIENT = frozenset({"comparison", "integer", "float", "item"})
_PASSES_THROUGH = ("torch/functional.py", "torch/nn/functional.py", "torch/_tensor.py", "torch/overrides.py")


_roles: dict[Any, str] = {}
_reads_values: dict[Any, bool] = {}
_inert: set[Any] = set()
"""Calls that change nothing and hand out no value of a tensor; most ask for a shape, a dim, a flag."""
_PLAIN = frozenset({bool, int, torch.Size, torch.dtype, torch.device, torch.layout})
_TRACKING = frozenset({"requires_grad_", "requires_grad"})


def find_role(function: Any) -> str:
    """What a call may do without making a node: "changes" values in place, "asks" for hooks, "tracks", or ""."""
    name = name_function(function)
    if function in _ASKS:
        return "asks"
    if name in _TRACKING:
        return "tracks"
    is_setter = getattr(function, "__name__", "") == "__set__"
    return "changes" if is_setter or is_inplace_call(name) or name.startswith(("_foreach_", "_fused_")) else ""


def may_cut(function: Any, result: Any) -> bool:
    """Whether a value may have left the graph. Most calls that make no node only ask: for a shape, a dim, a flag."""
    if isinstance(result, (torch.Tensor, tuple, list)):
        return True
    known = _reads_values.get(function)
    if known is None:
        known = _reads_values[function] = reads_values(function)
    return known


class Listener(TorchFunctionMode):  # type: ignore[misc]
    """Calls each function unchanged, then compares autograd's sequence counter with its value before."""

    def __init__(self, recorder: "Recorder") -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        recorder = self._recorder
        if function in _STARTS_BACKWARD or _are_transforms_active():
            # Backward is noted where the engine starts, which enables this mode again for hooks and custom backwards.
            return self._pass_on(function, args, kwargs)
        was_tracked = function is _DETACH_IN_PLACE and args[0].requires_grad
        before = read_counter()
        result = function(*args, **kwargs) if kwargs else function(*args)
        after = read_counter()
        if after == before and function in _inert and type(result) in _PLAIN:
            return result
        # Some calls (isfinite) make nodes on the way to a result that is not tracked.
        is_lost = after == before or (type(result) is torch.Tensor and not result.requires_grad)
        try:
            if get_ident() != recorder.thread:
                # The engine hands this mode to the threads of other devices, which count nodes of their own.
                tag_foreign(recorder, function, (args, result), before, after, sys._getframe(1))
                return result
            if after == before:
                self._hear(function, args, before)
            else:
                self._note_made(function, result, before, after, is_lost, sys._getframe(1))
            if recorder.quiet == 0 and ((is_lost and may_cut(function, result)) or function is CUTS_INSIDE):
                cut = self._find_cut(function, args, kwargs, result, was_tracked, is_lost)
                if cut is not None:
                    note_cut(recorder, cut, function, sys._getframe(1))
        except Exception as problem:  # noqa: BLE001 - the tracer's fault must not become the program's
            recorder.give_up(problem)
        return result

    def _note_made(
        self, function: Any, result: Any, before: int, after: int, is_lost: bool, frame: FrameType | None
    ) -> None:
        """A call that made the nodes before <= n < after."""
        recorder, frame = self._recorder, find_frame(frame, self._recorder.filename)
        recorder.calls.note(before, after, recorder.make_site(frame, function), is_lost)
        recorder.turns.note(frame, before, after)
        if recorder.values_left > 0 and not is_lost:
            recorder.note_value(function, result)

    def _hear(self, function: Any, args: Any, counter: int) -> None:
        """A call that made no node: some of them the tape or a note has to know of."""
        recorder, role = self._recorder, _roles.get(function)
        if role is None:
            role = _roles[function] = find_role(function)
            if not role and not reads_values(function):
                _inert.add(function)
        if role == "changes":
            recorder.note_change(counter)
        elif role == "asks":
            recorder.note_asked(function is torch.Tensor.retain_grad, args[0])
        elif role == "tracks" and args and args[0].requires_grad:
            frame = find_frame(sys._getframe(2), recorder.filename)
            recorder.tracked.note(args[0], recorder.make_site(frame, function))

    def _find_cut(
        self, function: Any, args: Any, kwargs: Any, result: Any, was_tracked: bool, is_lost: bool
    ) -> Cut | None:
        if not is_lost:
            return find_inner_cut(function, kwargs, result)
        return Cut("detach", None) if was_tracked else find_cut(function, args, kwargs, result)

    def _pass_on(self, function: Any, args: Any, kwargs: Any) -> Any:
        if _are_transforms_active():
            self._recorder.note_once("torch.func transforms are not shown: their tensors are wrapped.")
        return function(*args, **(kwargs or {}))


def find_frame(frame: FrameType | None, filename: str) -> FrameType | None:
    """The innermost frame of the learner's source, or None."""
    while frame is not None and frame.f_code.co_filename != filename:
        frame = frame.f_back
    return frame


def note_cut(recorder: "Recorder", cut: Cut, function: Any, frame: FrameType | None) -> None:
    """Keeps a cut made by the learner's source. What library code reads or checks on its way does not count."""
    below = None
    while frame is not None and frame.f_code.co_filename != recorder.filename:
        below, frame = frame if not _passes_through(frame) else below, frame.f_back
    if frame is None:
        return
    is_leaf = cut.tensor is not None and cut.tensor.is_leaf
    if (
        below is not None
        and (cut.kind in _WITHOUT_GRADIENT or is_leaf)
        and cut.kind not in ("no_grad", "inference_mode")
    ):
        return
    recorder.note_cut(cut, recorder.make_site(frame, name_function(function)))


def _passes_through(frame: FrameType) -> bool:
    return frame.f_code.co_filename.endswith(_PASSES_THROUGH)

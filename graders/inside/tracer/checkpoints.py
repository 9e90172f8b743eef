"""Watches torch.utils.checkpoint's regions: which nodes a region made, and when its tensors are recomputed."""

import sys
import weakref
from typing import Any

import torch
import torch.utils.checkpoint as torch_checkpoint

from .engine import RECOMPUTES, Engine
from .listening import find_frame, read_counter
from .recorder import Recorder, Region
from .saved import Saved, describe_saved


class CheckpointWatch:
    """Subclasses torch's two saved-tensor hooks during a recording. Reentrant checkpoints do not need this."""

    def __init__(self, recorder: Recorder, engine: Engine) -> None:
        self._recorder = recorder
        self._engine = engine
        self._original = (torch_checkpoint._checkpoint_hook, torch_checkpoint._recomputation_hook)

    def install(self) -> None:
        torch_checkpoint._checkpoint_hook = _watch_region(self._original[0], self._recorder)
        torch_checkpoint._recomputation_hook = _watch_recomputation(self._original[1], self)

    def remove(self) -> None:
        torch_checkpoint._checkpoint_hook, torch_checkpoint._recomputation_hook = self._original

    def begin(self) -> None:
        if self._recorder.is_here():
            self._recorder.add_event("recompute", self._engine.find_running(), text=RECOMPUTES)

    def finish(self, frame: Any, group: Any) -> None:
        """Find the nodes whose slots this recomputation filled, and what they hold now."""
        if frame is None or not self._recorder.is_here():
            return
        recomputed = frame.recomputed.get(group, {})
        filled: dict[int, Saved] = {}
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            for weak_holder in frame.weak_holders:
                holder = weak_holder()
                handle = None if holder is None else holder.handles.get(group)
                tensor = None if handle is None else recomputed.get(handle)
                if tensor is not None:
                    filled[id(holder)] = describe_saved("", tensor)
        self._recorder.refill(filled)


def _watch_region(original: Any, recorder: Recorder) -> Any:
    class RegionHook(original):  # type: ignore[misc]
        def __enter__(self) -> Any:
            self._started = read_counter()
            self._site = recorder.make_site(find_frame(sys._getframe(1), recorder.filename), "checkpoint")
            return super().__enter__()

        def __exit__(self, *error: Any) -> Any:
            if recorder.is_here():
                recorder.regions.append(Region(self._site, self._started, read_counter(), []))
            return super().__exit__(*error)

    return RegionHook


def _watch_recomputation(original: Any, watch: CheckpointWatch) -> Any:
    class RecomputationHook(original):  # type: ignore[misc]
        def __init__(self, frame: weakref.ref[Any], group: Any) -> None:
            super().__init__(frame, group)
            self._frame, self._group = frame, group

        def __enter__(self) -> Any:
            watch.begin()
            return super().__enter__()

        def __exit__(self, *error: Any) -> Any:
            result = super().__exit__(*error)
            watch.finish(self._frame(), self._group)
            return result

    return RecomputationHook

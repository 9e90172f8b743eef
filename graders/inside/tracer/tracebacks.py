"""Removes the tracer's own frames from a learner's traceback; the error itself is unchanged."""

from pathlib import Path
from types import CodeType, TracebackType

_HERE = str(Path(__file__).parent)
_OVERRIDES = str(Path("torch", "overrides.py"))


def drop_own_frames(error: BaseException) -> None:
    """Relinks the tracebacks of an error and of its causes without this package's frames."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        each = pending.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        pending += [each.__cause__, each.__context__]
        each.__traceback__ = _filter(each.__traceback__)


def is_detour(code: CodeType) -> bool:
    """Whether a frame is the tracer's own, or one in which torch calls the tracer."""
    return code.co_filename.startswith(_HERE) or is_way_to_detour(code)


def is_way_to_detour(code: CodeType) -> bool:
    return code.co_name == "handle_torch_function" and code.co_filename.endswith(_OVERRIDES)


def _was_detour(entry: TracebackType) -> bool:
    """Whether a torch function called the tracer, which called it again: the second frame shows where it failed."""
    after = entry.tb_next
    return after is not None and is_detour(after.tb_frame.f_code)


def _filter(traceback: TracebackType | None) -> TracebackType | None:
    kept: list[TracebackType] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_detour(code):
            pass
        elif kept and kept[-1].tb_frame.f_code is code and _was_detour(kept[-1]):
            kept[-1] = traceback
        else:
            kept.append(traceback)
        traceback = traceback.tb_next
    for entry, after in zip(kept, [*kept[1:], None], strict=True):
        entry.tb_next = after
    return kept[0] if kept else None

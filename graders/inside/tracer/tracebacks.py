"""Takes the tracer's own frames out of a learner's traceback; the error itself is not touched."""

from pathlib import Path
from types import TracebackType

_HERE = str(Path(__file__).parent)


def drop_own_frames(error: BaseException) -> None:
    """Relink the tracebacks of an error and of its causes without frames of this package."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        each = pending.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        pending += [each.__cause__, each.__context__]
        each.__traceback__ = _filter(each.__traceback__)


def _filter(traceback: TracebackType | None) -> TracebackType | None:
    kept = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(_HERE):
            kept.append(traceback)
        traceback = traceback.tb_next
    for entry, after in zip(kept, [*kept[1:], None], strict=True):
        entry.tb_next = after
    return kept[0] if kept else None

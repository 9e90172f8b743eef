"""Records an engine that the learner wrote: values that name their operands in `_prev`. Standard library alone."""

from .recording import Recording, record

__all__ = ["Recording", "record"]

"""Records the autograd graphs of a learner's own program and the tape of their unwinding, and changes neither."""

from .caps import Caps
from .recording import Recording, record

__all__ = ["Caps", "Recording", "record"]

"""Watch autograd on your own code, without the website: `with unwind.tape() as t: ...`, then `t.figure()`.

The one place where the tracer and the pictures meet in one process. Nothing of the course imports it.
"""

from unwind.taping import Tape, tape

__all__ = ["Tape", "tape"]

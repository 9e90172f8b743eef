"""Watch autograd on your own code, without the website: `with unwind.tape() as t: ...`, then `t.figure()`.

The only place that uses the tracer and the pictures in one process. Nothing in the course imports it.
"""

from unwind.taping import Tape, tape

__all__ = ["Tape", "tape"]

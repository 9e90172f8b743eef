"""A drawing process: takes tasks from its standard input one at a time, under limits, and dies with the website.

Run by app.drawing.pool as `python -m app.drawing.drawer PARENT MEMORY_MIB CPU_SECONDS LOG_FORM`. It has three
descriptors, no environment and no settings, and imports neither a server nor a database.
"""

import ctypes
import logging
import os
import resource
import signal
import stat
import struct
import sys
from typing import BinaryIO

from app.drawing.answer import answer_task
from app.drawing.tasks import TASK, NotDrawn
from graders.contract.log_lines import LogForm, set_up_logging

REQUEST = struct.Struct("!II")
"""Before each request: the bytes of its task and of its trace, which follow."""
ANSWER = struct.Struct("!BI")
"""Before each answer: its status, and the bytes that follow."""
DRAWN, REFUSED, OUT_OF_MEMORY = range(3)

NICENESS = 10
"""Pages come before pictures wherever both want a processor."""
MAX_DESCRIPTORS = 16
LOG_ROOM_BYTES = 16 * 2**20
PRIVATE_UMASK = 0o077
PR_SET_PDEATHSIG = 1


def confine(parent: int, memory_mib: int) -> None:
    """Give up what drawing does not need. The process ends with its parent, however that ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(0)
    os.umask(PRIVATE_UMASK)
    os.nice(NICENESS)
    for limit, most in (
        (resource.RLIMIT_AS, memory_mib * 2**20),
        (resource.RLIMIT_NOFILE, MAX_DESCRIPTORS),
        (resource.RLIMIT_FSIZE, _find_log_room()),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (most, most))


def _find_log_room() -> int:
    """The most bytes that a file may come to have: none, unless the log, which the website shares, is a file."""
    log = os.fstat(sys.stderr.fileno())
    return log.st_size + LOG_ROOM_BYTES if stat.S_ISREG(log.st_mode) else 0


def serve(requests: BinaryIO, answers: BinaryIO, cpu_seconds: float) -> None:
    """Answer until there is no more to read, or until memory ran out: what is left of it then is in pieces."""
    while len(head := requests.read(REQUEST.size)) == REQUEST.size:
        task_bytes, trace_bytes = REQUEST.unpack(head)
        task, document = requests.read(task_bytes), requests.read(trace_bytes)
        # Its signal ends the process, whatever it is in the middle of; RLIMIT_CPU counts whole seconds only.
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
        status, answer = _answer(task, document)
        signal.setitimer(signal.ITIMER_PROF, 0)
        answers.write(ANSWER.pack(status, len(answer)) + answer)
        answers.flush()
        if status == OUT_OF_MEMORY:
            return


def _answer(task: bytes, document: bytes) -> tuple[int, bytes]:
    try:
        return DRAWN, answer_task(TASK.validate_json(task), document)
    except NotDrawn as refusal:
        return REFUSED, str(refusal).encode()
    except MemoryError:
        return OUT_OF_MEMORY, b""


def main() -> None:
    parent, memory_mib, cpu_seconds, log_form = sys.argv[1:]
    confine(int(parent), int(memory_mib))
    set_up_logging("drawing", logging.WARNING, LogForm(log_form))
    serve(sys.stdin.buffer, sys.stdout.buffer, float(cpu_seconds))


if __name__ == "__main__":
    main()

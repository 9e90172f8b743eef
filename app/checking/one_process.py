"""Runs one program of the course as a process of its own, and leaves its error in a file: type, message and time.

`app.checking.outside` starts this file by its path, in an interpreter that cannot import the rest of the site. So it
imports the standard library alone.

Arguments: the program, the file for its error, and the process that started this one.
"""

import ctypes
import json
import os
import runpy
import signal
import sys
import time
import traceback
from pathlib import Path

PR_SET_PDEATHSIG = 1


def main(program: str, failure: str, starter: str) -> None:
    """Ends without the interpreter's own cleanup.

    There, gloo's threads under a living DDP aborted in up to half of the runs on a busy machine ("terminate called
    without an active exception"), and a thread that never ends kept an error from being seen.
    """
    _end_with(int(starter))
    code = 0
    try:
        runpy.run_path(program, run_name="__main__")
    except BaseException as error:  # noqa: BLE001 - whatever ends the program is its result, SystemExit too
        if not isinstance(error, SystemExit) or error.code not in (None, 0):
            _leave_error(error, time.monotonic_ns(), program, Path(failure))
            code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _end_with(starter: int) -> None:
    """Asks the kernel to end this process as soon as the one that started it has ended, in whatever way."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != starter:
        os._exit(1)


def _leave_error(error: BaseException, at: int, program: str, failure: Path) -> None:
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename != program:
        trace = trace.tb_next
    place = type(error).__module__
    name = type(error).__qualname__
    said = {
        "at": at,
        "type": name if place in ("builtins", "__main__") else f"{place}.{name}",
        "message": str(error),
        "traceback": "".join(traceback.format_exception(type(error), error, trace)),
    }
    # Renamed when whole: this process may be stopped while it writes.
    half = failure.with_suffix(".half")
    half.write_text(json.dumps(said), encoding="utf-8")
    half.rename(failure)


if __name__ == "__main__":
    main(*sys.argv[1:])

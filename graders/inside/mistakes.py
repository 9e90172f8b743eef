"""Inside the box: describes an error in a learner's code at the learner's line, without the driver's frames."""

import dis
import json
import linecache
import re
import sys
import traceback
from collections.abc import Mapping
from types import CodeType
from typing import Any

MAX_BYTES = 16 * 1024
MESSAGE_CHARACTERS = 1000
TRACEBACK_CHARACTERS = 6000
PROBE = "probe.py"
QUOTED = re.compile(r"'(\w+)'")
CALLED = re.compile(r"^([\w<>]+)[\w.<>]*\(\) ")
"""The names in "unsupported operand type(s) for +: 'Value' and 'float'", and in "Value.backward() takes 1 ..."."""
FOLDERS = re.compile(r"^/.*/(site-packages|dist-packages|python3\.[0-9]+|inside)/")
"""Library folders, removed from tracebacks: the paths are long and reveal this machine's layout."""


def prepare_streams() -> None:
    """Makes output line-buffered, and escapes characters that UTF-8 cannot encode."""
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        stream = open(  # noqa: SIM115
            descriptor, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def flush_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001 - the learner may have put anything there
            continue


def compile_source(source: str, filename: str) -> CodeType:
    """The learner's text as code, with its lines available to tracebacks. Raises only SyntaxError."""
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    try:
        return compile(source, filename, "exec", dont_inherit=True)
    except (ValueError, SyntaxError) as error:
        if isinstance(error, SyntaxError) and error.filename:
            raise
        # A NUL byte or a lone surrogate, for which Python names no line.
        line = next((n for n, text in enumerate(source.split("\n"), 1) if _is_unreadable(text)), 1)
        raise SyntaxError(str(error), (filename, line, None, None)) from None
    except (RecursionError, MemoryError):
        raise SyntaxError("too deeply nested to be read", (filename, 1, None, None)) from None


def describe_mistake(error: BaseException, filename: str) -> dict[str, Any]:
    """type, message, line and traceback of an error, as JSON-ready data. `filename` is the learner's file;
    `unreadable` says that Python could not even compile it."""
    report = traceback.TracebackException(type(error), error, error.__traceback__)
    unreadable = isinstance(error, SyntaxError) and error.filename == filename
    line = error.lineno if isinstance(error, SyntaxError) and unreadable else None
    for frame in report.stack:
        if frame.filename == filename:
            line = frame.lineno
    hide_our_frames(report, filename)
    return {
        "type": type(error).__name__[:100],
        "message": _message(error)[:MESSAGE_CHARACTERS],
        "line": line,
        "unreadable": unreadable,
        "traceback": _shorten("".join(report.format())),
    }


def describe_check(error: BaseException, own: Mapping[str, Any], filename: str) -> dict[str, Any]:
    """Whether the exercise's probe raised this, and why. `own` holds the learner's names, `filename` is their file.

    `check` is "says" if the probe refuses on purpose what it was given, "misses" if the learner's code lacks a name,
    "stumbles" if the probe was not prepared for what it was given, and "" if the error is the learner's. `check_line`
    is a line of probe.py.
    """
    steps = list(traceback.walk_tb(error.__traceback__))
    if not steps or any(frame.f_code.co_filename == filename for frame, _ in steps):
        return {"check": ""}
    frame, line = steps[-1]
    if speaks_of(error, own):
        return {"check": "misses" if isinstance(error, AttributeError) else ""}
    if frame.f_code.co_filename != PROBE or isinstance(error, (MemoryError, RecursionError)):
        return {"check": ""}
    raised = frame.f_code.co_code[last_instruction(error)] == dis.opmap["RAISE_VARARGS"]
    return {"check": "says" if raised else "stumbles", "check_line": line}


def last_instruction(error: BaseException) -> int:
    """Where its innermost frame stopped: an offset into the frame's bytecode."""
    link = error.__traceback__
    while link is not None and link.tb_next is not None:
        link = link.tb_next
    return link.tb_lasti if link is not None else 0


def speaks_of(error: BaseException, own: Mapping[str, Any]) -> bool:
    """Whether an AttributeError or TypeError is about something that the learner wrote, or should have written.

    Nothing of the learner's has to run for that: an operator that a class lacks, or an argument too many.
    """
    if not isinstance(error, (AttributeError, TypeError)):
        return False
    module = own.get("__name__", "")
    subject = getattr(error, "obj", None)
    if subject is not None and (getattr(subject, "__dict__", None) is own or type(subject).__module__ == module):
        return True
    message = _message(error)
    quoted = QUOTED.findall(message)
    # After the first one, an AttributeError quotes the attribute.
    named = {*(quoted[:1] if isinstance(error, AttributeError) else quoted), *CALLED.findall(message)}
    return "<lambda>" in named or any(getattr(own.get(name), "__module__", None) == module for name in named)


def encode_mistake(mistake: dict[str, Any]) -> bytes:
    """JSON of at most 16 KiB; texts are shortened if they need more."""
    characters = TRACEBACK_CHARACTERS
    raw = _encode(mistake)
    while len(raw) > MAX_BYTES:
        characters //= 2
        shorter = {
            "message": mistake["message"][:characters],
            "traceback": mistake["traceback"][len(mistake["traceback"]) - characters :],
        }
        raw = _encode({**mistake, **shorter})
    return raw


def hide_our_frames(report: traceback.TracebackException, filename: str) -> None:
    """Removes the driver's frames: keeps the learner's code and the library code that it called."""
    link: traceback.TracebackException | None = report
    seen: set[int] = set()
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        frames = list(link.stack)
        own = [place for place, frame in enumerate(frames) if frame.filename == filename]
        kept = frames[own[0] :] if own else []
        for frame in kept:
            frame.filename = FOLDERS.sub("", frame.filename)
        link.stack = traceback.StackSummary.from_list(kept)
        link = link.__cause__ or link.__context__


def _is_unreadable(line: str) -> bool:
    return "\x00" in line or any("\ud800" <= c <= "\udfff" for c in line)


def _encode(mistake: dict[str, Any]) -> bytes:
    return json.dumps(mistake, ensure_ascii=False).encode("utf-8", "replace")


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the error's class is the learner's
        return ""


def _shorten(text: str) -> str:
    """The beginning and end of a long text."""
    if len(text) <= TRACEBACK_CHARACTERS:
        return text
    half = TRACEBACK_CHARACTERS // 2
    return text[:half] + "\n  ...\n" + text[-half:]

"""Inside the box: describes an error in a learner's code at the learner's line, without the driver's frames."""

import json
import linecache
import re
import sys
import traceback
from types import CodeType
from typing import Any

MAX_BYTES = 16 * 1024
MESSAGE_CHARACTERS = 1000
TRACEBACK_CHARACTERS = 6000
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

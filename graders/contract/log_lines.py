"""One form for every line of the logs of website and grader: text for people, or one JSON object for a collector.

Both name what a line is about: the submission, and the request of a browser that began it.
"""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import StrEnum
from types import TracebackType

current_request: ContextVar[str] = ContextVar("current_request", default="")
"""The id of the request that is being answered, or whose submission is being judged; empty outside of any."""
current_submission: ContextVar[str] = ContextVar("current_submission", default="")


class LogForm(StrEnum):
    TEXT = "text"
    JSON = "json"


@contextmanager
def log_about(*, submission: str, request: str) -> Iterator[None]:
    """Inside, log lines name this submission and this request. A thread needs a copy of the context to do so too."""
    tokens = current_submission.set(submission), current_request.set(request)
    try:
        yield
    finally:
        current_submission.reset(tokens[0])
        current_request.reset(tokens[1])


def _write_time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def _read_subject() -> dict[str, str]:
    named = {"submission": current_submission.get(), "request": current_request.get()}
    return {name: value for name, value in named.items() if value}


class TextLine(logging.Formatter):
    """`2026-11-22T11:20:40.123Z WARNING website: message [request 3f]`; a traceback follows on its own lines."""

    def __init__(self, program: str) -> None:
        super().__init__(f"%(asctime)s %(levelname)s {program}: %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        return _write_time(record)

    def formatMessage(self, record: logging.LogRecord) -> str:
        about = ", ".join(f"{name} {value}" for name, value in _read_subject().items())
        return super().formatMessage(record) + (f" [{about}]" if about else "")


class JsonLine(logging.Formatter):
    """One JSON object per line; `exception` has the traceback, with its line ends escaped."""

    def __init__(self, program: str) -> None:
        super().__init__()
        self._program = program

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, str | int | None] = {
            "time": _write_time(record),
            "level": record.levelname,
            "process": self._program,
            "pid": record.process,
            "message": record.getMessage(),
            **_read_subject(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def make_formatter(program: str, form: LogForm) -> logging.Formatter:
    return JsonLine(program) if form is LogForm.JSON else TextLine(program)


def set_up_logging(program: str, level: int, form: LogForm = LogForm.TEXT) -> None:
    """Once in each process, at its start: lines go to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(make_formatter(program, form))
    logging.basicConfig(level=level, handlers=[handler])
    if form is LogForm.JSON:
        # Python writes these itself, on several lines, unless somebody takes them.
        logging.captureWarnings(True)
        sys.excepthook = _log_end


def _log_end(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        logging.getLogger(__name__).critical("the process ends", exc_info=(kind, error, where))

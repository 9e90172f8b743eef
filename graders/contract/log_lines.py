"""One form for every line of the logs of website and grader: time in UTC, level, program, message."""

import logging
from datetime import UTC, datetime


class LogLine(logging.Formatter):
    """`2026-11-22T11:20:40.123Z WARNING website: message`; a traceback follows on its own lines."""

    def __init__(self, program: str) -> None:
        super().__init__(f"%(asctime)s %(levelname)s {program}: %(message)s")

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def set_up_logging(program: str, level: int) -> None:
    """Once in each process, at its start: lines go to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(LogLine(program))
    logging.basicConfig(level=level, handlers=[handler])

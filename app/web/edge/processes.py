"""The website as several processes on one host, and the metrics of all of them in one answer.

They share the address that browsers use, so a scrape reaches any one of them. Each therefore answers its own metrics
on a socket of its own in the data folder, and whichever is asked asks the others. The first process alone counts what
the ledger knows, so that it is counted once, and does the chores of the installation.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from graders.ledger import short_path

LABEL = "process"
ANSWER_SECONDS = 2.0
FOLDER = "processes"

Describe = Callable[[], Awaitable[bytes]]
"""The metrics of this process, in Prometheus' text format."""


@dataclass(frozen=True)
class SiteProcess:
    """Which of the website's processes this is, from 1, and how many there are."""

    number: int = 1
    count: int = 1

    @property
    def is_first(self) -> bool:
        return self.number == 1

    @property
    def is_alone(self) -> bool:
        return self.count == 1


@asynccontextmanager
async def answer_others(data: Path, number: int, describe: Describe) -> AsyncIterator[None]:
    """Inside, the other processes can ask this one for its metrics."""
    folder = data / FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with listening, short_path(folder) as short:
        # A process that was killed leaves its socket behind.
        (folder / str(number)).unlink(missing_ok=True)
        listening.bind(f"{short}/{number}")

        async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(OSError):
                writer.write(await describe())
                await writer.drain()
            writer.close()

        async with await asyncio.start_unix_server(answer, sock=listening):
            yield


async def ask_process(data: Path, number: int) -> bytes:
    """What a process answers; empty if it does not, because it is starting, say."""
    try:
        with short_path(data / FOLDER) as short:
            async with asyncio.timeout(ANSWER_SECONDS):
                reader, writer = await asyncio.open_unix_connection(f"{short}/{number}")
                answer = await reader.read()
                writer.close()
                await writer.wait_closed()
    except (OSError, TimeoutError):
        return b""
    return answer


async def ask_all(data: Path, process: SiteProcess, describe: Describe) -> bytes:
    """The metrics of all processes, in one text."""
    numbers = range(1, process.count + 1)
    answers = await asyncio.gather(
        *(describe() if number == process.number else ask_process(data, number) for number in numbers)
    )
    return join_metrics(dict(zip(numbers, answers, strict=True)))


def join_metrics(texts: Mapping[int, bytes]) -> bytes:
    """One text, in which each series says whose it is. Nothing is added up: queries do that, and a counter that
    begins again with its process is then seen as such."""
    families: dict[str, list[str]] = {}
    for number, text in texts.items():
        family: list[str] = []
        for line in text.decode().splitlines():
            if line.startswith("# HELP "):
                family = families.setdefault(line, [])
            elif not line.startswith("#"):
                family.append(_name_process(line, number))
            elif not family:
                family.append(line)
    lines = [line for head, family in families.items() for line in (head, *family)]
    return "".join(f"{line}\n" for line in lines).encode()


def _name_process(line: str, number: int) -> str:
    """`name{a="b"} 1` becomes `name{process="2",a="b"} 1`."""
    name, _, value = line.partition(" ")
    if "{" not in name:
        return f'{name}{{{LABEL}="{number}"}} {value}'
    name, _, rest = line.partition("{")
    return f'{name}{{{LABEL}="{number}",{rest}'

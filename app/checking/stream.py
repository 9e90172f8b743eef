"""Talks to `python -m graders stream`: jobs go in and results come out, one JSON document per line, in any order.

The website's side may not import the box, so the graders run as a separate process.
"""

import json
import queue
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from pydantic import ValidationError

from graders.contract.examination import STREAM_RESULT, Examination, ExamineJob
from graders.contract.hello import WorkerHello
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.results import RunEnd, Verdict

AnyJob = GradeJob | RunJob | ExamineJob
AnyResult = RunEnd | Verdict | Examination

SILENCE_SECONDS = 180.0
"""Longer than any job may take: graders that write no line for this long count as dead."""

LAST_WORDS = 2000


class GraderFault(Exception):
    """The graders could not be started, died, or wrote something unreadable. The message says what to look at."""


class GraderStream:
    """One process of graders, from its hello to its end. Use it as a context manager."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = list(command)
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._words: list[str] = []

    def __enter__(self) -> "GraderStream":
        try:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        except OSError as error:
            raise GraderFault(f"the graders cannot be started: {error}") from error
        threads = ((self._read_lines, self._process.stdout), (self._read_words, self._process.stderr))
        self._readers = [threading.Thread(target=read, args=(pipe,), daemon=True) for read, pipe in threads]
        for reader in self._readers:
            reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for reader in self._readers:
            reader.join(timeout=5)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None and not pipe.closed:
                _close_quietly(pipe)

    def read_hello(self) -> WorkerHello:
        """The description of the worker that will run the jobs. Raises GraderFault."""
        try:
            return WorkerHello.model_validate(self._next_document()["hello"])
        except (KeyError, ValidationError) as error:
            raise GraderFault(f"the graders did not say who they are: {error}") from error

    def run(self, jobs: Mapping[str, AnyJob]) -> Iterator[tuple[str, AnyResult]]:
        """Yields each job's name and result as it ends. May be called again for more jobs. Raises GraderFault."""
        writer = threading.Thread(target=self._write_jobs, args=(jobs,), daemon=True)
        writer.start()
        waiting = set(jobs)
        while waiting:
            document = self._next_document()
            if "error" in document:
                raise GraderFault(f"the graders refuse the job {document.get('id')}: {document['error']}")
            try:
                name, result = str(document["id"]), STREAM_RESULT.validate_python(document["result"])
            except (KeyError, ValidationError) as error:
                raise GraderFault(f"the graders gave a result that cannot be read: {error}") from error
            waiting.discard(name)
            yield name, result
        writer.join(timeout=5)

    def _write_jobs(self, jobs: Mapping[str, AnyJob]) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            for name, job in jobs.items():
                pipe.write(json.dumps({"id": name, "job": job.model_dump(mode="json")}) + "\n")
                pipe.flush()
        except (BrokenPipeError, ValueError):
            # The graders died. The reading side finds the end of their output and raises.
            return

    def _read_lines(self, pipe: IO[str]) -> None:
        for line in pipe:
            self._lines.put(line)
        self._lines.put(None)

    def _read_words(self, pipe: IO[str]) -> None:
        for line in pipe:
            self._words.append(line)

    def _next_document(self) -> dict[str, object]:
        try:
            line = self._lines.get(timeout=SILENCE_SECONDS)
        except queue.Empty:
            raise GraderFault(f"the graders were silent for {SILENCE_SECONDS:.0f} seconds{self._said()}") from None
        if line is None:
            self._process.wait()
            self._readers[1].join(timeout=5)
            raise GraderFault(f"the graders ended with status {self._process.returncode}{self._said()}")
        try:
            document = json.loads(line)
        except json.JSONDecodeError as error:
            raise GraderFault(f"the graders wrote a line that is not JSON: {line[:200]!r}") from error
        if not isinstance(document, dict):
            raise GraderFault(f"the graders wrote a line that is not a JSON object: {line[:200]!r}")
        return document

    def last_words(self) -> str:
        """The end of the graders' standard error, which explains a fault of theirs."""
        return "".join(self._words).strip()[-LAST_WORDS:]

    def _said(self) -> str:
        words = self.last_words()
        return f", and said:\n{words}" if words else ""


def _close_quietly(pipe: IO[str]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        # The reader is gone, so what is left in the buffer cannot be written.
        return

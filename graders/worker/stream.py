"""Jobs as lines on standard input, results as lines on standard output: the interface for a course's check.

The first line out is {"hello": WorkerHello}. Then each line {"id": ..., "job": Job} gets one line
{"id": ..., "result": Result}, in the order in which the jobs end, or {"id": ..., "error": text} if it is not a job.
"""

import json
import queue
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from graders.contract.jobs import JOB
from graders.contract.results import RESULT, Result
from graders.contract.settings import GraderSettings
from graders.worker.open_worker import open_worker
from graders.worker.runner import Runner

Write = Callable[[str], None]


def serve_lines(settings: GraderSettings, exercises: Path, lines: Iterable[str], write: Write) -> None:
    """Run every job of `lines`, on as many slots as the settings say. Raises BoxFault if no run can be confined.

    No self-test runs here, because the jobs come from the course's author and not from learners.
    """
    with open_worker(settings, exercises, proven=False) as worker, ThreadPoolExecutor(settings.slots) as threads:
        write(json.dumps({"hello": worker.hello.model_dump(mode="json")}))
        free: queue.SimpleQueue[Runner] = queue.SimpleQueue()
        for runner in worker.runners:
            free.put(runner)
        waiting = [threads.submit(answer_line, line, free, write) for line in lines]
        for one in waiting:
            one.result()


def answer_line(line: str, free: "queue.SimpleQueue[Runner]", write: Write) -> None:
    told: Any = None
    try:
        told = json.loads(line)
        job = JOB.validate_python(told["job"])
    except (ValidationError, ValueError, TypeError, KeyError) as error:
        known = told.get("id") if isinstance(told, dict) else None
        write(json.dumps({"id": known, "error": f"not a job: {error}"}))
        return
    runner = free.get()
    try:
        result: Result = runner(job, lambda kind, body: None, threading.Event())
    finally:
        free.put(runner)
    write(json.dumps({"id": told.get("id"), "result": RESULT.dump_python(result, mode="json")}))

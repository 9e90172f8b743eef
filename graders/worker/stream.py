"""Jobs as lines on standard input, results as lines on standard output: the interface for a course's check.

The first line out is {"hello": WorkerHello}. Then each line {"id": ..., "job": Job} gets one line
{"id": ..., "result": Result}, in the order in which the jobs end, or {"id": ..., "error": text} if it is not a job or
if an exercise could not be examined.
"""

import json
import queue
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from graders.contract.examination import STREAM_JOB, STREAM_RESULT, ExamineJob
from graders.contract.jobs import GradeJob, Queue, RunJob
from graders.contract.results import RunEnd, Verdict
from graders.contract.settings import GraderSettings
from graders.trusted.exercise_folders import one_folder
from graders.trusted.faults import GraderFault
from graders.worker.open_worker import open_worker
from graders.worker.runner import Examine, Runner

Write = Callable[[str], None]


def serve_lines(settings: GraderSettings, exercises: Path, lines: Iterable[str], write: Write) -> None:
    """Run every job of `lines`, on as many slots as the settings say. Raises BoxFault if no run can be confined.

    No self-test runs here, because the jobs come from the course's author and not from learners. With UNWIND_CARD,
    the slot has that card.
    """
    queue_served = Queue.CPU if settings.card is None else Queue.GPU
    with (
        open_worker(settings, one_folder(exercises), queue_served, proven=False) as worker,
        ThreadPoolExecutor(settings.slots) as threads,
    ):
        write(json.dumps({"hello": worker.hello.model_dump(mode="json")}))
        free: queue.SimpleQueue[Runner] = queue.SimpleQueue()
        for runner in worker.runners:
            free.put(runner)
        waiting = [threads.submit(answer_line, line, free, worker.examine, write) for line in lines]
        for one in waiting:
            one.result()


def answer_line(line: str, free: "queue.SimpleQueue[Runner]", examine: Examine, write: Write) -> None:
    told: Any = None
    try:
        told = json.loads(line)
        job = STREAM_JOB.validate_python(told["job"])
    except (ValidationError, ValueError, TypeError, KeyError) as error:
        known = told.get("id") if isinstance(told, dict) else None
        write(json.dumps({"id": known, "error": f"not a job: {error}"}))
        return
    try:
        result = examine(job.exercise) if isinstance(job, ExamineJob) else run_on_a_slot(job, free)
    except GraderFault as fault:
        write(json.dumps({"id": told.get("id"), "error": str(fault)}))
        return
    write(json.dumps({"id": told.get("id"), "result": STREAM_RESULT.dump_python(result, mode="json")}))


def run_on_a_slot(job: GradeJob | RunJob, free: "queue.SimpleQueue[Runner]") -> RunEnd | Verdict:
    runner = free.get()
    try:
        return runner(job, lambda kind, body: None, threading.Event())
    finally:
        free.put(runner)

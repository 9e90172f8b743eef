"""Jobs as lines on standard input, results as lines on standard output: the door for a course's check.

The first line out is {"hello": WorkerHello}; then, for every {"id": ..., "job": Job} in, one
{"id": ..., "result": Result} in the order in which they end, or {"id": ..., "error": text} for a line that is no job.
"""

import contextlib
import importlib.util
import json
import os
import platform
import queue
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from graders.box.errand import BoxFault, Profile
from graders.box.profiles import probe_profile
from graders.box.slot import Slot, open_box
from graders.contract.hello import WorkerHello
from graders.contract.jobs import JOB, Flavour, Queue
from graders.contract.results import RESULT, Result
from graders.run_job import run_job
from graders.settings import GraderSettings
from graders.trusted.reference import ReferenceServer

Write = Callable[[str], None]


def serve_lines(settings: GraderSettings, exercises: Path, lines: Iterable[str], write: Write) -> None:
    """Run every job of `lines` on as many slots as the settings say. Raises BoxFault where none can be confined."""
    flavours = tuple(Flavour) if importlib.util.find_spec("torch") else (Flavour.PLAIN,)
    reference = ReferenceServer()
    with contextlib.closing(reference), ThreadPoolExecutor(settings.slots) as threads:
        reference.warm(with_torch=Flavour.TORCH in flavours)
        with open_boxes(settings, flavours, threads) as boxes:
            write(json.dumps({"hello": describe_worker(settings, flavours, boxes[0]).model_dump(mode="json")}))
            free: queue.SimpleQueue[Slot] = queue.SimpleQueue()
            for box in boxes:
                free.put(box)
            waiting = [threads.submit(answer_line, line, free, exercises, reference, write) for line in lines]
            for one in waiting:
                one.result()


def answer_line(
    line: str, free: "queue.SimpleQueue[Slot]", exercises: Path, reference: ReferenceServer, write: Write
) -> None:
    told: Any = None
    try:
        told = json.loads(line)
        job = JOB.validate_python(told["job"])
    except (ValidationError, ValueError, TypeError, KeyError) as error:
        known = told.get("id") if isinstance(told, dict) else None
        write(json.dumps({"id": known, "error": f"not a job: {error}"}))
        return
    box = free.get()
    try:
        result: Result = run_job(job, box, exercises, reference, lambda kind, body: None, threading.Event())
    finally:
        free.put(box)
    write(json.dumps({"id": told.get("id"), "result": RESULT.dump_python(result, mode="json")}))


@contextlib.contextmanager
def open_boxes(
    settings: GraderSettings, flavours: tuple[Flavour, ...], threads: ThreadPoolExecutor
) -> Iterator[list[Slot]]:
    """One box a slot, all opened at once: each waits for its zygote to import torch."""
    profile = probe_profile(Profile(settings.profile) if settings.profile else None)
    opening = [threads.submit(open_box, flavours, profile=profile) for _ in range(settings.slots)]
    faults = [fault for one in opening if (fault := one.exception())]
    boxes = [one.result() for one in opening if one.exception() is None]
    try:
        if faults:
            raise faults[0] if isinstance(faults[0], BoxFault) else BoxFault(str(faults[0]))
        yield boxes
    finally:
        for box in boxes:
            box.close()


def describe_worker(settings: GraderSettings, flavours: tuple[Flavour, ...], box: Slot) -> WorkerHello:
    """No self-test runs here, and none is claimed: this door is the course's author's, not a learner's."""
    return WorkerHello(
        worker=f"{socket.gethostname()}-{os.getpid()}",
        queue=Queue.CPU,
        slots=settings.slots,
        flavours=flavours,
        profile=box.profile.value,
        memory_cgroup=box.memory_cgroup,
        python=platform.python_version(),
        torch=box.torch_version,
        device="cpu",
        self_test_passed=0,
        self_test_total=0,
    )

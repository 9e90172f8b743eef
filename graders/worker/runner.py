"""The function that runs one job, as the worker's loop sees it: it uses a box or, in a test, a fake."""

import threading
from collections.abc import Callable

from graders.contract.events import OnEvent
from graders.contract.examination import Examination
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.results import RunEnd, Verdict

Runner = Callable[[GradeJob | RunJob, OnEvent, threading.Event], Verdict | RunEnd]
"""Runs one job in the calling thread. Setting the flag makes it end soon, with any result."""

Examine = Callable[[str], Examination]
"""Looks for the mistakes of an exercise's author, by the exercise's name. Raises GraderFault."""

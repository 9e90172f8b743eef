"""The worker loop, from its hello to its goodbye: claims submissions and runs each in a free slot."""

import asyncio
import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from graders.contract.events import OnEvent
from graders.contract.hello import MAX_REFUSED, WorkerHello
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.log_lines import log_about
from graders.contract.model import SubmissionId
from graders.contract.outcome_sentences import make_end
from graders.contract.results import Outcome, RunEnd, Verdict
from graders.ledger import Claim, Ledger, StorageRefused, UnreadableJob
from graders.trusted.exercise_folders import ExerciseFolders
from graders.trusted.faults import OtherVersion
from graders.worker.runner import Runner
from graders.worker.running_job import Patience, RunningJob

RECONCILE_SECONDS = 5.0
GRACE_SECONDS = 2.0
CANCEL_POLL_SECONDS = 1.0
RETRY_SECONDS = 0.5

log = logging.getLogger(__name__)


class WorkerLoop:
    """Serves one queue until it is stopped; then gives its runs GRACE_SECONDS to end, and releases the rest.

    It judges only submissions to the versions of exercises that `exercises` has. With None it judges any. What
    another version of Unwind sent, and this one cannot read, it leaves to other workers. `after_each` runs after
    each job, before the next.
    """

    def __init__(
        self,
        ledger: Ledger,
        hello: WorkerHello,
        runners: Sequence[Runner],
        exercises: ExerciseFolders | None = None,
        reconcile_seconds: float = RECONCILE_SECONDS,
        patience: Patience = Patience(),
        after_each: Callable[[], None] | None = None,
    ) -> None:
        self._ledger = ledger
        self._hello = hello
        self._exercises = exercises
        self._reconcile_seconds = reconcile_seconds
        self._patience = patience
        self._after_each = after_each
        self._free = deque(runners)
        self._running_jobs: set[RunningJob] = set()
        self._unreadable: dict[SubmissionId, None] = {}  # in the order in which they were met
        self._threads = ThreadPoolExecutor(len(runners), thread_name_prefix="slot")

    async def work(self, stopping: asyncio.Event) -> None:
        """Raises SlotHangs, in an exception group, if a run cannot be ended: then this process must end at once."""
        await self._reconcile()
        try:
            async with asyncio.TaskGroup() as group:
                loops = [
                    group.create_task(self._keep_reconciling()),
                    group.create_task(self._watch_cancels()),
                    group.create_task(self._release_after(stopping)),
                ]
                queue, slots = self._hello.queue, self._hello.slots
                await self._ledger.dispatcher.worker(queue, slots, self._handle, stopping, self._can_judge)
                for loop in loops:
                    loop.cancel()
        finally:
            for running_job in self._running_jobs:
                running_job.release()
            self._threads.shutdown(wait=False)
        await self._say_goodbye()

    async def _handle(self, submission: SubmissionId) -> None:
        try:
            claim = await self._ledger.claim(submission, self._hello.worker)
        except StorageRefused as error:
            log.error("%s: the database refused the claim: %s", submission, error.reason)
            await asyncio.sleep(RETRY_SECONDS)
            return
        except UnreadableJob as error:
            log.error("%s", error)
            self._unreadable[submission] = None
            return
        if claim is not None:
            with log_about(submission=submission, request=claim.request):
                await self._run(claim)

    async def _run(self, claim: Claim) -> None:
        try:
            if await self._release_other_version(claim):
                return
        except StorageRefused as error:
            log.error("%s: the database refused the release: %s", claim.id, error.reason)
            await asyncio.sleep(RETRY_SECONDS)
            return
        running_job = RunningJob(self._ledger, claim)
        runner = self._free.popleft()
        self._running_jobs.add(running_job)
        try:
            await running_job.run(_guard(runner), self._threads, self._patience)
        finally:
            self._running_jobs.discard(running_job)
            self._free.append(runner)
        if self._after_each:
            # Before this slot takes another job; what it raises ends the worker.
            await asyncio.get_running_loop().run_in_executor(self._threads, self._after_each)

    def _can_judge(self, submission: SubmissionId, exercise: str, digest: str) -> bool:
        if submission in self._unreadable:
            return False
        return self._exercises is None or not digest or self._exercises.has(exercise, digest)

    async def _release_other_version(self, claim: Claim) -> bool:
        """Release the claim, and return True, if the files of its exercise changed after it was offered."""
        job = claim.job
        if self._exercises is None or isinstance(job, RunJob) or not job.exercise_digest:
            return False
        if self._exercises.has(job.exercise, job.exercise_digest):
            return False
        ours = self._exercises.read_digests().get(job.exercise, "")
        log.warning("%s: released, because %s", claim.id, OtherVersion(job.exercise, ours, job.exercise_digest))
        await self._ledger.release(claim)
        return True

    async def _keep_reconciling(self) -> None:
        while True:
            await asyncio.sleep(self._reconcile_seconds)
            await self._reconcile()

    async def _reconcile(self) -> None:
        try:
            await self._ledger.say_hello(self._describe())
            reconciled = await self._ledger.reconcile()
        except StorageRefused as error:
            log.error("the database refused the reconciliation: %s", error.reason)
            return
        if reconciled.requeued or reconciled.faulted:
            log.warning("workers lost: %d runs queued again, %d given up", reconciled.requeued, reconciled.faulted)
        for skew in reconciled.unjudgeable:
            have = " and ".join(skew.served) or "none"
            told = (skew.exercise, skew.wanted, have, skew.submissions)
            log.error("the version of %s is %s at the website, graders have %s: %d submissions not judged", *told)

    def _describe(self) -> WorkerHello:
        """The hello, with the versions of the exercises as they are now, and what it has refused."""
        hello = self._hello.model_copy(update={"refused": tuple(self._unreadable)[-MAX_REFUSED:]})
        if self._exercises is None:
            return hello
        exercises, earlier = self._exercises.read_digests(), self._exercises.read_earlier()
        return hello.model_copy(update={"exercises": exercises, "earlier_exercises": earlier})

    async def _watch_cancels(self) -> None:
        with self._ledger.listen_for_cancels() as listener:
            while True:
                await listener.wait(CANCEL_POLL_SECONDS)
                if self._running_jobs:
                    with contextlib.suppress(StorageRefused):  # each job's lease says what becomes of it
                        await self._drop_lost()

    async def _drop_lost(self) -> None:
        running_jobs = {running_job.claim: running_job for running_job in self._running_jobs}
        for claim in await self._ledger.find_lost(tuple(running_jobs)):
            running_jobs[claim].abandon()

    async def _release_after(self, stopping: asyncio.Event) -> None:
        await stopping.wait()
        await asyncio.sleep(GRACE_SECONDS)
        for running_job in self._running_jobs:
            running_job.release()

    async def _say_goodbye(self) -> None:
        try:
            await self._ledger.say_goodbye(self._hello.worker)
        except StorageRefused as error:
            log.error("the database refused the goodbye: %s", error.reason)


def _guard(runner: Runner) -> Runner:
    """A runner that does not raise: an error becomes the result GRADER_FAULT, and the worker goes on."""

    def run(job: GradeJob | RunJob, on_event: OnEvent, kill: threading.Event) -> Verdict | RunEnd:
        try:
            return runner(job, on_event, kill)
        except Exception:
            log.exception("the runner raised")
            return make_end(job, Outcome.GRADER_FAULT)

    return run

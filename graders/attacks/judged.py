"""Tries one attack through the installed judge: a forged submission, or a free cell with or without the tracer."""

import threading
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from graders.attacks.attempt import NO_TORCH, TOO_BUSY, Attempted, Result
from graders.attacks.corpus import ESCAPED, ROOT, CellAttack, Forgery
from graders.attacks.on_the_judge import HONEST
from graders.box.slot import Slot
from graders.contract.jobs import Flavour, GradeJob, RunJob
from graders.contract.limits import Limits
from graders.contract.model import ExerciseName
from graders.contract.outcome_sentences import MACHINE_BUSY
from graders.contract.results import Outcome, RunEnd, Verdict
from graders.judging.run_job import run_job
from graders.trusted.reference import ReferenceServer

EXERCISES: Final = Path(__file__).resolve().parent
EXERCISE: Final = ExerciseName("relu-vjp")
CELL_LIMITS: Final = Limits(cpu_seconds=2.0, wall_seconds=3.0, memory_mib=512, output_kib=16)
LEFT_BY_A_PICKLE: Final = Path("/tmp/pwned")

CLEAN: Final = """
import builtins, codecs, gc, os, signal, sys, threading, warnings, torch
assert not [name for name in ("PWNED", "HELD") if hasattr(builtins, name) or hasattr(torch, name)], "names"
assert sys.gettrace() is None and sys.getprofile() is None or "tracer" in str(sys.gettrace()), "trace"
assert threading.active_count() <= 2, "threads"
assert "LD_PRELOAD" not in os.environ and len(os.environ) <= 6, "environment"
assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, "signals"
assert int("7") == 7 and len([1]) == 1 and not False and 0 + 0 == 0, "numbers"
assert "\\ud800".encode("ascii", "backslashreplace") == b"\\\\ud800", "codecs"
assert all(type(finder).__module__ != "__main__" for finder in sys.meta_path), "import"
assert torch.get_num_threads() >= 1 and torch.get_default_dtype() is torch.float32, "torch"
try:
    own = {path.split("/")[2] for path in sys.path if path.startswith("/tmp/")}
    assert set(os.listdir("/tmp")) <= own, "files"
except PermissionError:
    pass
x = torch.ones(3, requires_grad=True)
(x * 2).sum().backward()
assert x.grad.tolist() == [2.0, 2.0, 2.0], "gradient"
print("clean")
"""


@dataclass(frozen=True)
class Judge:
    """The installed judge: a slot, and the reference process that is asked for the right answers."""

    slot: Slot
    reference: ReferenceServer

    def grade(self, source: str) -> Verdict:
        """As an answer to the exercise beside this module."""
        end = self._judge(GradeJob(exercise=EXERCISE, source=source))
        assert isinstance(end, Verdict)
        return end

    def run(self, source: str, *, traced: bool) -> RunEnd:
        end = self._judge(RunJob(source=source, want_trace=traced, limits=CELL_LIMITS))
        assert isinstance(end, RunEnd)
        return end

    def _judge(self, job: GradeJob | RunJob) -> Verdict | RunEnd:
        return run_job(job, self.slot, EXERCISES, self.reference, lambda kind, body: None, threading.Event())


def try_through_judge(judge: Judge, attack: Forgery | CellAttack) -> Attempted:
    """Judge it, then an honest program in the same slot, which must find nothing of it."""
    if Flavour.TORCH not in judge.slot.flavours:
        return Attempted(attack, Result.NOT_RUN, NO_TORCH)
    if isinstance(attack, Forgery):
        end: Verdict | RunEnd = judge.grade(attack.source)
    else:
        end = judge.run(attack.source, traced=attack.traced)
    if got_through := _find_success(end, attack):
        return Attempted(attack, *got_through)
    if end.outcome not in attack.allowed:
        return Attempted(attack, Result.NOT_RUN, TOO_BUSY)
    if trace := _find_trace(judge, attack):
        return Attempted(attack, Result.ESCAPED, f"the next run was not clean: {trace}")
    return Attempted(attack, Result.HELD, f"it ended as {end.outcome}, and the next run was clean")


def _find_success(end: Verdict | RunEnd, attack: Forgery | CellAttack) -> tuple[Result, str] | None:
    """How this end is a success of the attack. None if it is in order, or if the machine was too busy."""
    if ESCAPED in end.stdout + end.stderr:
        return Result.ESCAPED, f"it printed: {end.stdout.strip()[:200]}"
    if end.outcome is Outcome.PASSED and Outcome.PASSED not in attack.allowed:
        return Result.FORGED, "it passed, and its answers are wrong"
    if end.outcome not in attack.allowed and end.finding != MACHINE_BUSY:
        return Result.ESCAPED, _describe_wrong_end(end, attack)
    if unclean := find_unclean(end):
        return Result.ESCAPED, f"a learner would be shown {unclean}"
    return None


def _describe_wrong_end(end: Verdict | RunEnd, attack: Forgery | CellAttack) -> str:
    right = ", ".join(sorted(attack.allowed))
    told = f" ({end.mistake.type}: {end.mistake.message[:200]})" if end.mistake else ""
    return f"it ended as {end.outcome}{told}, where only these are right: {right}"


def find_unclean(end: Verdict | RunEnd) -> str:
    """What could move a cursor, turn a text around, stand alone as half a character or name our files, in words."""
    texts = [end.stdout, end.stderr, end.trace_refused if isinstance(end, RunEnd) else ""]
    texts += [end.mistake.type, end.mistake.message, end.mistake.traceback] if end.mistake else []
    texts += [end.finding.short, end.finding.long] if end.finding else []
    unclean = {
        character
        for text in texts
        for character in text
        if unicodedata.category(character) in ("Cc", "Cf", "Cs") and character not in "\n\t"
    }
    if unclean:
        return f"characters that are no text: {', '.join(f'U+{ord(character):04X}' for character in sorted(unclean))}"
    ours = [path for path in (str(ROOT), "site-packages") if end.mistake and path in end.mistake.traceback]
    return f"a path of ours in the traceback: {ours[0]}" if ours else ""


def _find_trace(judge: Judge, attack: Forgery | CellAttack) -> str:
    """What it left for the next run or on this host, in words; empty if nothing."""
    if isinstance(attack, CellAttack):
        end: Verdict | RunEnd = judge.run(CLEAN, traced=False)
        right, printed = Outcome.OK, "clean\n"
    else:
        end, right, printed = judge.grade(HONEST), Outcome.PASSED, ""
        if LEFT_BY_A_PICKLE.exists():
            return f"{LEFT_BY_A_PICKLE} was made on this host"
    if (end.outcome, end.stdout, end.stderr) == (right, printed, "") or end.finding == MACHINE_BUSY:
        return ""
    return f"{end.outcome} {end.mistake.message if end.mistake else end.stdout + end.stderr}".strip()[:200]

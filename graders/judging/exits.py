"""Turns what the kernel and the box report about a finished run into outcomes, words and measures."""

from dataclasses import replace

from graders.box.interface import Cause, Exit
from graders.contract.limits import Limits
from graders.contract.results import Measure, MeasuredBy, Outcome

SIGSYS = 31
LEAST_SECONDS = 0.001


class MachineBusy(Exception):
    """The run's wall time passed while it mostly waited for a processor, so it says nothing about the program."""


def outcome_of_exit(exit_: Exit) -> Outcome:
    """The outcome of a run that ended without answering everything. No exit status is ever a pass.

    Raises MachineBusy if the run mostly waited for a processor.
    """
    if exit_.machine_was_busy:
        raise MachineBusy(f"the run waited {exit_.waited_seconds:.1f} of {exit_.wall_seconds:.1f} s for a processor")
    return _outcome_of_cause(exit_)


def _outcome_of_cause(exit_: Exit) -> Outcome:
    match exit_.cause:
        case Cause.CPU_LIMIT | Cause.WALL_LIMIT:
            return Outcome.TIME_LIMIT
        case Cause.MEMORY_LIMIT:
            return Outcome.MEMORY_LIMIT
        case Cause.OUTPUT_LIMIT:
            return Outcome.OUTPUT_LIMIT
        case Cause.CANCELLED:
            return Outcome.CANCELLED
        case Cause.STOPPED:
            return Outcome.PROTOCOL_ERROR
        case Cause.SIGNALLED:
            return Outcome.FORBIDDEN if exit_.signal == SIGSYS else Outcome.CRASHED
        case Cause.EXITED:
            return Outcome.NO_RESULT


def describe_limit(outcome: Outcome, exit_: Exit | None, limits: Limits) -> str:
    """The limit that was reached, with its unit; "" for an outcome without a limit."""
    match outcome:
        case Outcome.TIME_LIMIT if exit_ is not None and exit_.cause is Cause.CPU_LIMIT:
            return f"{limits.cpu_seconds:g} s of computing"
        case Outcome.TIME_LIMIT:
            return f"{limits.wall_seconds:g} s"
        case Outcome.MEMORY_LIMIT:
            return f"{limits.memory_mib} MiB"
        case Outcome.OUTPUT_LIMIT:
            return f"{limits.output_kib} KiB"
        case _:
            return ""


def measure(exit_: Exit) -> tuple[Measure, ...]:
    """What the kernel measured about the process, each measure with its unit."""
    facts = [("cpu", exit_.cpu_seconds, "s"), ("wall", exit_.wall_seconds, "s")]
    if exit_.peak_memory_bytes is not None:
        facts.append(("peak memory", exit_.peak_memory_bytes / 2**20, "MiB"))
    return tuple(Measure(name=n, value=v, unit=u, measured_by=MeasuredBy.KERNEL) for n, v, u in facts)


def find_time_left(limits: Limits, exits: list[Exit]) -> Limits:
    """The limits of a submission's next run: what the runs before it left of the time for all of them.

    Never nothing, which no run could be given: the run that gets a millisecond ends at its limit.
    """
    cpu_seconds = limits.cpu_seconds - sum(exit_.cpu_seconds for exit_ in exits)
    # What a run waited for a processor has cost it nothing, as long as it ran, and costs the next one nothing.
    # The wait is partly estimated (see ProcessorWait), so it may exceed the time that it was part of.
    spent = (max(0.0, exit_.wall_seconds - exit_.waited_seconds) for exit_ in exits)
    wall_seconds = limits.wall_seconds - sum(spent)
    left = {"cpu_seconds": cpu_seconds, "wall_seconds": wall_seconds}
    return limits.model_copy(update={name: max(LEAST_SECONDS, seconds) for name, seconds in left.items()})


def join_exits(exits: list[Exit]) -> Exit:
    """The last exit, with all output joined, the time of all runs together, and the largest memory of any."""
    peaks = [exit_.peak_memory_bytes for exit_ in exits if exit_.peak_memory_bytes is not None]
    return replace(
        exits[-1],
        cpu_seconds=sum(exit_.cpu_seconds for exit_ in exits),
        wall_seconds=sum(exit_.wall_seconds for exit_ in exits),
        peak_memory_bytes=max(peaks, default=None),
        stdout=b"".join(exit_.stdout for exit_ in exits),
        stderr=b"".join(exit_.stderr for exit_ in exits),
    )

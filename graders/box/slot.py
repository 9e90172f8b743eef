"""A slot: zygotes of the flavours it was opened for, and one run at a time on them."""

import logging
import math
import os
import select
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from graders.box import cgroups
from graders.box.cgroups import Hierarchy, Quota, RunGroups
from graders.box.errand import Box, BoxFault, Errand, Profile
from graders.box.jail.child import READY
from graders.box.jail.orders import ForkOrder
from graders.box.profiles import choose_uid, probe_profile
from graders.box.run import BoxRun, Pipes
from graders.box.zygote import Zygote, ZygoteSettings
from graders.contract.jobs import Flavour
from graders.contract.limits import Limits

MIB: Final = 1 << 20
SETUP_SECONDS: Final = 10.0
# The main thread, and the one with the big stack that the cell driver starts.
OWN_TASKS: Final = 2

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class SlotSettings:
    """How a slot is made. `cpu_cores` is its share where there is a cpu cgroup."""

    flavours: tuple[Flavour, ...]
    profile: Profile
    compute_threads: int = 1
    cpu_cores: float = 1.0


def open_box(
    flavours: Sequence[Flavour] = (Flavour.PLAIN, Flavour.TORCH),
    *,
    profile: Profile | None = None,
    compute_threads: int = 1,
    cpu_cores: float = 1.0,
) -> "Slot":
    """Start the zygotes of a slot and wait until they serve. `profile` None: the strongest that works here.

    Raises BoxFault, with the remedy, when the machine cannot confine or a zygote does not come up.
    """
    chosen = profile if profile is not None else probe_profile()
    return Slot(SlotSettings(tuple(flavours), chosen, compute_threads, cpu_cores))


class Slot(Box):
    """See graders/README.md. A zygote that died is replaced before the next run; its failure is a BoxFault."""

    def __init__(self, settings: SlotSettings) -> None:
        self.profile = settings.profile
        self._settings = settings
        self._starting = threading.Lock()
        self._run: BoxRun | None = None
        self._serial = 0
        self._zygotes: dict[Flavour, Zygote] = {}
        self._uid = choose_uid()
        self._gid = self._uid if os.geteuid() == 0 else os.getegid()
        # Only P1 is sure to be allowed, but a delegated group of an ordinary user is used just the same.
        self._hierarchies: tuple[Hierarchy, ...] = cgroups.find_hierarchies(f"unwind-{os.getpid()}-{id(self):x}")
        try:
            for flavour in settings.flavours:
                self._zygotes[flavour] = self._start_zygote(flavour)
            for zygote in self._zygotes.values():
                zygote.wait_until_ready()
        except BoxFault:
            self.close()
            raise

    @property
    def flavours(self) -> tuple[Flavour, ...]:
        return self._settings.flavours

    @property
    def memory_cgroup(self) -> bool:
        """Whether the kernel counts and caps a run's memory as a whole."""
        return any(hierarchy.controller == "memory" for hierarchy in self._hierarchies)

    @property
    def torch_version(self) -> str:
        zygote = self._zygotes.get(Flavour.TORCH)
        return str(zygote.facts.get("torch", "")) if zygote else ""

    def start(self, errand: Errand) -> BoxRun:
        with self._starting:
            if self._run is not None and not self._run.is_over:
                raise BoxFault("the slot's last run is not over; stop it first")
            zygote = self._healthy_zygote(errand.flavour)
            try:
                self._run = self._launch(zygote, errand)
            except BoxFault:
                # Half a start may have left a child or an unread answer: begin again with a fresh zygote next time.
                zygote.close()
                self._zygotes.pop(errand.flavour, None)
                raise
        self._run.send(len(errand.payload).to_bytes(8, "little") + errand.payload)
        return self._run

    def close(self) -> None:
        if self._run is not None and not self._run.is_over:
            try:
                self._run.stop()
            except BoxFault:
                logger.exception("the last run of a closing slot did not end well")
        for zygote in self._zygotes.values():
            zygote.close()
        self._zygotes.clear()
        cgroups.remove_hierarchies(self._hierarchies)

    def _start_zygote(self, flavour: Flavour) -> Zygote:
        settings = self._settings
        return Zygote(ZygoteSettings(flavour, settings.profile, self._uid, self._gid, settings.compute_threads))

    def _healthy_zygote(self, flavour: Flavour) -> Zygote:
        if flavour not in self._settings.flavours:
            raise BoxFault(f"this slot was opened without the {flavour} zygote")
        zygote = self._zygotes.get(flavour)
        if zygote is None or not zygote.is_alive:
            if zygote is not None:
                logger.warning("the %s zygote died; starting another", flavour)
                zygote.close()
            zygote = self._zygotes[flavour] = self._start_zygote(flavour)
            zygote.wait_until_ready()
        return zygote

    def _launch(self, zygote: Zygote, errand: Errand) -> BoxRun:
        limits = errand.limits
        self._serial += 1
        try:
            groups = RunGroups(self._hierarchies, f"run-{self._serial}", self._quota(limits))
        except OSError as error:
            raise BoxFault(f"the run's cgroup could not be made: {error}") from error
        ours, theirs = _make_pipes()
        process_lists: list[int] = []
        try:
            process_lists = groups.open_process_lists()
            handle = zygote.fork(_order(errand, groups), [*theirs, *process_lists])
        except (OSError, BoxFault) as error:
            _close_all(ours)
            groups.remove()
            raise BoxFault(f"no child could be forked: {error}") from error
        finally:
            _close_all([*theirs, *process_lists])
        run = BoxRun(zygote, handle, Pipes(*ours[:4]), limits, groups, errand.on_output)
        _await_ready(run, ours[4])
        return run

    def _quota(self, limits: Limits) -> Quota:
        return Quota(limits.memory_mib * MIB, limits.threads + OWN_TASKS, self._settings.cpu_cores)


def _order(errand: Errand, groups: RunGroups) -> ForkOrder:
    limits = errand.limits
    return ForkOrder(
        driver=errand.driver,
        cpu_seconds=math.ceil(limits.cpu_seconds),
        wall_seconds=limits.wall_seconds,
        memory_bytes=limits.memory_mib * MIB,
        disk_bytes=limits.disk_mib * MIB,
        process_limit=0 if groups.counts_tasks else limits.threads + OWN_TASKS,
    )


def _make_pipes() -> tuple[list[int], list[int]]:
    """(our ends, the child's ends) of descriptors 0 to 3 and of the report; ours do not block."""
    into_theirs, into_ours = os.pipe()
    ours, theirs = [into_ours], [into_theirs]
    for _ in range(4):
        read_end, write_end = os.pipe()
        ours.append(read_end)
        theirs.append(write_end)
    for descriptor in ours:
        os.set_blocking(descriptor, False)
    return ours, theirs


def _close_all(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _await_ready(run: BoxRun, report: int) -> None:
    """Wait for the child's word that every layer is on. Anything else is our fault, and told as such."""
    said = b""
    deadline = time.monotonic() + SETUP_SECONDS
    try:
        while select.select([report], [], [], max(0.0, deadline - time.monotonic()))[0]:
            piece = os.read(report, 4096)
            if not piece:
                break
            said += piece
    finally:
        os.close(report)
    if said != READY:
        run.stop()
        raise BoxFault(f"the jail did not close: {said.decode(errors='replace') or 'no word from the child'}")

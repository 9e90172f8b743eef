"""A slot: it has a zygote for each flavour that it was opened with, and does one run at a time."""

import contextlib
import itertools
import logging
import math
import os
import select
import socket
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

from graders.box import cgroups
from graders.box.card import Card
from graders.box.cgroups import Quota, RunGroups
from graders.box.interface import Box, BoxClosed, BoxFault, BoxRequest, Profile
from graders.box.jail import orders
from graders.box.jail.child import READY
from graders.box.jail.orders import ForkOrder, ZygoteOrder
from graders.box.launcher import Zygote
from graders.box.mothers import Mothers
from graders.box.profiles import choose_uid, count_tasks, probe_profile
from graders.box.run import BoxRun, Child, Pipes, keep_on_core
from graders.contract.jobs import Flavour
from graders.contract.limits import Limits

MIB: Final = 1 << 20
SETUP_SECONDS: Final = 10.0
# The main thread, and the one with the big stack that the cell driver starts.
OWN_TASKS: Final = 2
# In an ordinary user's namespace: the zygote, the spare child, and one more.
ZYGOTE_TASKS: Final = 3
# The launcher counts exactly and kills first; the kernel's own limit is the backstop for when the launcher is busy.
CPU_BACKSTOP_SECONDS: Final = 1
SLACK_TASKS: Final = 16
# What a card's driver takes beside the exercise's limits: time for its context, the machine's memory, threads.
CARD_SECONDS, CARD_HOST_MIB, CARD_TASKS = 8.0, 2048, 16
CORES: Final = itertools.cycle(sorted(os.sched_getaffinity(0)))
"""Each slot takes the next core, so that two slots that each keep their runs on one core do not share it."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class SlotSettings:
    """How a slot is made. `cpu_cores` is the most CPU that a run may use; only a cpu cgroup enforces it."""

    flavours: tuple[Flavour, ...]
    profile: Profile
    compute_threads: int = 1
    cpu_cores: float = 1.0
    card: Card | None = None


def open_box(
    flavours: Sequence[Flavour] = (Flavour.PLAIN, Flavour.TORCH),
    *,
    profile: Profile | None = None,
    compute_threads: int = 1,
    cpu_cores: float = 1.0,
    card: Card | None = None,
) -> "Slot":
    """A slot with its own mothers, ready for runs. With `profile` None it uses the strongest that works here.

    Raises BoxFault, with the remedy, when this machine cannot confine code, or when a zygote does not start.
    """
    chosen = profile if profile is not None else probe_profile()
    return Slot(SlotSettings(tuple(flavours), chosen, compute_threads, cpu_cores, card), Mothers(chosen, card))


def open_boxes(count: int, flavours: Sequence[Flavour], profile: Profile, card: Card | None = None) -> list["Slot"]:
    """Slots that share their mothers, all ready for runs; the caller closes each. Raises BoxFault if one fails."""
    mothers = Mothers(profile, card)
    slots: list[Slot] = []
    try:
        for _ in range(count):
            slots.append(Slot(SlotSettings(tuple(flavours), profile, card=card), mothers))
    except BoxFault:
        for slot in slots:
            slot.close()
        raise
    return slots


@dataclass(frozen=True)
class _Spare:
    """A child forked ahead of its run: in its cgroups and namespaces, waiting for an order on `channel`."""

    serial: int
    channel: socket.socket
    groups: RunGroups


class Slot(Box):
    """See graders/README.md. A dead zygote is replaced before the next run; BoxFault if that fails."""

    def __init__(self, settings: SlotSettings, mothers: Mothers) -> None:
        self.profile = settings.profile
        self._settings = settings
        self._mothers = mothers
        self._starting = threading.Lock()
        self._run: BoxRun | None = None
        self._serials = itertools.count(1)
        self._zygotes: dict[Flavour, Zygote] = {}
        self._spares: dict[Flavour, _Spare] = {}
        self._sweeper = ThreadPoolExecutor(1, thread_name_prefix="cgroup-sweeper")
        self._core = next(CORES)
        self.uid = choose_uid()
        self.gid = self.uid if os.geteuid() == 0 else os.getegid()
        # Only P1 is sure to be allowed to make cgroups, but an ordinary user's delegated group is used too.
        self._hierarchies = cgroups.find_hierarchies(cgroups.name_groups(id(self)))
        try:
            self._mothers.join(settings.flavours)
            for flavour in settings.flavours:
                self._zygotes[flavour] = self._start_zygote(flavour)
            for flavour, zygote in self._zygotes.items():
                zygote.wait_until_ready()
                self._spares[flavour] = self._prepare_child(zygote)
        except BoxFault:
            self.close()
            raise

    @property
    def flavours(self) -> tuple[Flavour, ...]:
        return self._settings.flavours

    @property
    def card(self) -> Card | None:
        """The card that the box's root shows. Runs that do not ask for it cannot open it."""
        return self._settings.card

    @property
    def has_card(self) -> bool:
        return self.card is not None and Flavour.TORCH in self.flavours

    @property
    def memory_cgroup(self) -> bool:
        """Whether the kernel counts and caps a run's memory as a whole."""
        return any(hierarchy.controller == "memory" for hierarchy in self._hierarchies)

    @property
    def torch_version(self) -> str:
        torch = Flavour.TORCH in self.flavours
        return self._mothers.find_mother(Flavour.TORCH).torch_version or "" if torch else ""

    def find_zygote(self, flavour: Flavour) -> int:
        """The zygote's process id, for operators and fault tests."""
        return self._zygotes[flavour].pid

    def find_spare(self, flavour: Flavour) -> int:
        """The process id of the child that the next run of this flavour will use."""
        zygote = self._healthy_zygote(flavour)
        if flavour not in self._spares:
            self._spares[flavour] = self._prepare_child(zygote)
        return zygote.find_child(self._spares[flavour].serial)

    def find_mother(self, flavour: Flavour) -> int:
        """The process id of the mother, which this slot may share with others."""
        return self._mothers.find_mother(flavour).pid

    def start(self, request: BoxRequest) -> BoxRun:
        if request.card:
            request = replace(request, limits=add_card(request.limits))
        with self._starting:
            if self._run is not None and not self._run.is_over:
                raise BoxFault("the slot's last run is not over; stop it first")
            zygote = self._healthy_zygote(request.flavour)
            try:
                run = self._run = self._launch(zygote, request)
            except BoxFault:
                # A start that failed halfway may leave a child or an unread answer: the next run gets a new zygote.
                self._drop_zygote(request.flavour)
                raise
            with contextlib.suppress(BoxClosed):
                run.send(len(request.payload).to_bytes(8, "little") + request.payload)
            self._prepare_next(request.flavour, zygote)
        return run

    def close(self) -> None:
        if self._run is not None and not self._run.is_over:
            try:
                self._run.stop()
            except BoxFault:
                logger.exception("the slot is closing, and its last run could not be stopped")
        for flavour in tuple(self._zygotes):
            self._drop_zygote(flavour)
        self._mothers.leave()
        self._sweeper.shutdown()
        cgroups.remove_hierarchies(self._hierarchies)

    def _retire(self, groups: RunGroups) -> None:
        """Remove them in another thread: removal waits some milliseconds while the next child joins its groups."""
        # A slot that is closing accepts no more work, but removes all its groups itself.
        with contextlib.suppress(RuntimeError):
            self._sweeper.submit(groups.remove)

    def _start_zygote(self, flavour: Flavour) -> Zygote:
        order = ZygoteOrder(self.uid, self.gid, self._settings.compute_threads)
        return self._mothers.fork_zygote(flavour, order)

    def _drop_zygote(self, flavour: Flavour) -> None:
        zygote = self._zygotes.pop(flavour, None)
        spare = self._spares.pop(flavour, None)
        if spare is not None:
            spare.channel.close()
        if zygote is not None:
            zygote.close()
        if spare is not None:
            spare.groups.remove()

    def replace_zygote(self, flavour: Flavour) -> None:
        """Have another one, and a child of it ready, as after its death."""
        self._drop_zygote(flavour)
        zygote = self._healthy_zygote(flavour)
        self._spares[flavour] = self._prepare_child(zygote)

    def _healthy_zygote(self, flavour: Flavour) -> Zygote:
        if flavour not in self._settings.flavours:
            raise BoxFault(f"this slot was opened without the {flavour} flavour; add it to the slot's flavours")
        zygote = self._zygotes.get(flavour)
        if zygote is not None and zygote.is_alive:
            return zygote
        if zygote is not None:
            logger.warning("the %s zygote died; starting another", flavour)
            self._drop_zygote(flavour)
        zygote = self._zygotes[flavour] = self._start_zygote(flavour)
        zygote.wait_until_ready()
        return zygote

    def _prepare_next(self, flavour: Flavour, zygote: Zygote) -> None:
        """Fork the next child while this run is busy: to join a cgroup and to fork torch both take milliseconds."""
        try:
            self._spares[flavour] = self._prepare_child(zygote)
        except BoxFault:
            logger.exception("no child could be prepared; the next run will try again")

    def _prepare_child(self, zygote: Zygote) -> _Spare:
        serial = next(self._serials)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        process_lists: list[int] = []
        try:
            groups = RunGroups(self._hierarchies, f"run-{serial}")
            process_lists = groups.open_process_lists()
            zygote.request_child(serial, [theirs.fileno(), *process_lists])
        except OSError as error:
            ours.close()
            raise BoxFault(f"the run's cgroup could not be made: {error}") from error
        except BoxFault:
            ours.close()
            raise
        finally:
            theirs.close()
            _close_all(process_lists)
        return _Spare(serial, ours, groups)

    def _launch(self, zygote: Zygote, request: BoxRequest) -> BoxRun:
        spare = self._spares.get(request.flavour) or self._prepare_child(zygote)
        # Until the child has its order, it is still the spare: dropping the zygote then closes and removes all of it.
        self._spares[request.flavour] = spare
        with contextlib.ExitStack() as on_failure:
            try:
                handle = zygote.take_handle(spare.serial)
                on_failure.callback(os.close, handle)
                ours, theirs = _make_pipes()
                on_failure.callback(_close_all, ours)
                with contextlib.ExitStack() as given:
                    given.callback(_close_all, theirs)
                    spare.groups.set_quota(self.find_quota(request.limits))
                    orders.send(spare.channel, orders.as_fields(self.find_order(request, spare.groups)), theirs)
            except OSError as error:
                raise BoxFault(f"the spare child could not be used: {error}") from error
            on_failure.pop_all()
        del self._spares[request.flavour]
        spare.channel.close()
        child = Child(spare.serial, handle, spare.groups, self._retire)
        run = BoxRun(zygote, child, Pipes(*ours[:4]), request.limits, request.on_output)
        _await_ready(run, ours[4])
        if request.one_core:
            keep_on_core(child.handle, self._core)
        return run

    def find_quota(self, limits: Limits) -> Quota:
        return Quota(limits.memory_mib * MIB, limits.threads + OWN_TASKS, self._settings.cpu_cores)

    def find_order(self, request: BoxRequest, groups: RunGroups) -> ForkOrder:
        limits = request.limits
        return ForkOrder(
            driver=request.driver,
            cpu_seconds=math.ceil(limits.cpu_seconds) + CPU_BACKSTOP_SECONDS,
            memory_bytes=limits.memory_mib * MIB,
            disk_bytes=limits.disk_mib * MIB,
            process_limit=0 if groups.counts_tasks else limits.threads + OWN_TASKS + self._count_neighbours(),
            card_bytes=limits.card_mib * MIB if request.card else 0,
        )

    def _count_neighbours(self) -> int:
        """Tasks of the same user that RLIMIT_NPROC counts besides the run's own; used where no cgroup counts."""
        if self.profile is Profile.P2:
            return ZYGOTE_TASKS
        return 0 if os.geteuid() == 0 else count_tasks(os.geteuid()) + SLACK_TASKS


def add_card(limits: Limits) -> Limits:
    """With what a card's driver takes added, so that an exercise's own limits mean the same with a card."""
    return limits.model_copy(
        update={
            "cpu_seconds": limits.cpu_seconds + CARD_SECONDS,
            "wall_seconds": limits.wall_seconds + CARD_SECONDS,
            "memory_mib": limits.memory_mib + CARD_HOST_MIB,
            "threads": limits.threads + CARD_TASKS,
        }
    )


def _make_pipes() -> tuple[list[int], list[int]]:
    """(our ends, the child's ends) of descriptors 0 to 3 and of the report pipe; our ends do not block."""
    ours: list[int] = []
    theirs: list[int] = []
    with contextlib.ExitStack() as on_failure:
        on_failure.callback(lambda: _close_all([*ours, *theirs]))
        for number in range(5):
            read_end, write_end = os.pipe()
            ours.append(read_end if number else write_end)
            theirs.append(write_end if number else read_end)
        for descriptor in ours:
            os.set_blocking(descriptor, False)
        on_failure.pop_all()
    return ours, theirs


def _close_all(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _await_ready(run: BoxRun, report: int) -> None:
    """Wait until the child reports that every layer is on. Raises BoxFault with any other report."""
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
        raise BoxFault(f"the child could not be jailed: {said.decode(errors='replace') or 'it reported nothing'}")

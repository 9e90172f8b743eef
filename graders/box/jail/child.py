"""What happens between the fork and the learner's first line: five layers, applied in the only order that works."""

import os
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Final

from graders.box.jail import kernel, landlock, orders, privileges, root, seccomp
from graders.box.jail.landlock import Grant
from graders.box.jail.orders import ForkOrder, Setup, ZygoteOrder

CHILD_NAMESPACES: Final = (
    kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS | kernel.CLONE_NEWCGROUP | kernel.CLONE_NEWNET
)
CHANNEL: Final = 3
REPORT: Final = 4
READY: Final = b"ready"
HOST_NAME: Final = "box"
# What ps shows of a child that waits in its namespaces, and of one that runs.
SPARE_NAME, RUN_NAME = "box-spare", "box-run"


@dataclass(frozen=True)
class Inherited:
    """What the mother prepared once for the zygotes of all slots."""

    setup: Setup
    start: ModuleType
    landlock_version: int
    grants: list[Grant]
    filter: bytes
    """The seccomp filter for pid 1; a child without a pid namespace, or with a card, builds its own."""
    card_grants: list[Grant]
    """What a run that asked for the card may touch besides."""


@dataclass(frozen=True)
class Prepared:
    """What the zygote prepared for its own slot, so that a child only has to apply it."""

    inherited: Inherited
    order: ZygoteOrder
    pid_namespace: int
    """A descriptor of the zygote's own pid namespace."""
    data_bytes: int
    address_bytes: int
    bounding_set: tuple[int, ...]

    @property
    def has_namespaces(self) -> bool:
        return self.inherited.setup.has_namespaces

    @property
    def changes_user(self) -> bool:
        return self.inherited.setup.profile != "P2" and os.geteuid() == 0


def run_child(prepared: Prepared, descriptors: list[int]) -> None:
    """Wait for one order, jail this process, run the driver. Never returns: the code after it is the zygote's.

    `descriptors`: the socket on which the order will arrive, then the process lists of the cgroups to join. The slow
    steps that are the same for every run happen before the order arrives, so the next learner does not wait for them.
    """
    status = 1
    try:
        failure = _stand_by(prepared, descriptors)
        packet = orders.receive(socket.socket(fileno=CHANNEL))
        if packet is None:
            return
        fields, received = packet
        _place_descriptors(received)
        if failure is None:
            failure = _try(lambda: _jail(prepared, ForkOrder(**fields)))
        if failure is not None:
            os.write(REPORT, f"{type(failure).__name__}: {failure}".encode()[:4000])
            return
        os.write(REPORT, READY)
        os.close(REPORT)
        status = prepared.inherited.start.main(fields["driver"])
    finally:
        os._exit(status)


def _try(step: Callable[[], None]) -> BaseException | None:
    try:
        step()
    except BaseException as error:  # noqa: BLE001 - whatever it is, the operator must be able to read it
        return error
    return None


def _stand_by(prepared: Prepared, descriptors: list[int]) -> BaseException | None:
    kernel.control("prctl parent death", kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    failure = _try(lambda: _join_cgroups(descriptors[1:]))
    os.dup2(descriptors[0], CHANNEL)
    kernel.close_from(CHANNEL + 1)
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    failure = failure or _try(lambda: _enter_namespaces(prepared))
    if failure is None:
        kernel.set_process_name(SPARE_NAME)
    return failure


def _join_cgroups(process_lists: list[int]) -> None:
    # The kernel waits here for an RCU grace period, about ten milliseconds.
    for process_list in process_lists:
        os.write(process_list, b"0\n")


def _enter_namespaces(prepared: Prepared) -> None:
    if prepared.has_namespaces:
        kernel.unshare(CHILD_NAMESPACES)
        kernel.set_hostname(HOST_NAME)


def _place_descriptors(received: list[int]) -> None:
    """Move the order's descriptors to 0 to 3 and the report to 4; close all others."""
    # First to high numbers and then into place: otherwise one could be overwritten before it is copied.
    high = [os.dup2(descriptor, 100 + at) for at, descriptor in enumerate(received)]
    for at, descriptor in enumerate(high):
        os.dup2(descriptor, at)
    kernel.close_from(REPORT + 1)


def _jail(prepared: Prepared, order: ForkOrder) -> None:
    inherited, slot = prepared.inherited, prepared.order
    kernel.set_process_name(RUN_NAME)
    if prepared.has_namespaces:
        root.mount_scratch(order.disk_bytes)
    stack_bytes = inherited.start.stack_bytes(order.driver)
    if order.card_bytes and not inherited.setup.root.has_card:
        raise ValueError("the run asks for a card, and this box was opened without one")
    privileges.set_resource_limits(order, prepared.data_bytes, prepared.address_bytes, stack_bytes)
    privileges.give_up_privileges(slot.uid, slot.gid, prepared.changes_user, prepared.bounding_set)
    inherited.start.settle(slot.compute_threads)
    grants = inherited.grants + inherited.card_grants if order.card_bytes else inherited.grants
    landlock.restrict(inherited.landlock_version, grants)
    if order.card_bytes:
        seccomp.install_filter(seccomp.build_filter(os.getpid(), has_card=True))
        inherited.start.wake_card(order.card_bytes)
    else:
        seccomp.install_filter(inherited.filter if prepared.has_namespaces else seccomp.build_filter(os.getpid()))

"""What happens between the fork and the learner's first line: five layers, in the one order that works."""

import os
import signal
from dataclasses import dataclass
from types import ModuleType
from typing import Final

from graders.box.jail import kernel, landlock, privileges, root, seccomp
from graders.box.jail.landlock import Grant
from graders.box.jail.orders import ForkOrder, Setup

CHILD_NAMESPACES: Final = (
    kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS | kernel.CLONE_NEWCGROUP | kernel.CLONE_NEWNET
)
STANDARD_DESCRIPTORS: Final = 4
REPORT: Final = 4
READY: Final = b"ready"
HOST_NAME: Final = "box"


@dataclass(frozen=True)
class Prepared:
    """What the zygote worked out once, so that a fork only applies it."""

    setup: Setup
    start: ModuleType
    landlock_version: int
    grants: list[Grant]
    filter: bytes
    """For pid 1; a child without a pid namespace builds its own."""
    data_bytes: int
    address_bytes: int

    @property
    def has_namespaces(self) -> bool:
        return self.setup.profile != "P3"

    @property
    def changes_user(self) -> bool:
        return self.setup.profile != "P2" and os.geteuid() == 0


def run_child(prepared: Prepared, order: ForkOrder, descriptors: list[int]) -> None:
    """Jail this process and run the driver. Never returns: a handler that failed once went on as the parent."""
    status = 1
    try:
        report = _place_descriptors(order, descriptors)
        try:
            _jail(prepared, order)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the operator must read it
            os.write(report, f"{type(error).__name__}: {error}".encode()[:4000])
            return
        os.write(report, READY)
        os.close(report)
        status = prepared.start.main(order.driver)
    finally:
        os._exit(status)


def _place_descriptors(order: ForkOrder, descriptors: list[int]) -> int:
    """Make the order's descriptors 0 to 3 and the report 4, join the cgroups, close all else."""
    standard, report, cgroups = descriptors[:4], descriptors[4], descriptors[5:]
    failure = ""
    for cgroup in cgroups:
        try:
            os.write(cgroup, b"0\n")
        except OSError as error:
            failure = f"the run could not join its cgroup: {error}"
    # First out of the way of 0 to 4, then into place: a descriptor could be overwritten before it was copied.
    high = [os.dup2(descriptor, 100 + at) for at, descriptor in enumerate([*standard, report])]
    for at, descriptor in enumerate(high):
        os.dup2(descriptor, at)
    kernel.close_from(REPORT + 1)
    if failure:
        os.write(REPORT, failure.encode())
        os._exit(1)
    return REPORT


def _jail(prepared: Prepared, order: ForkOrder) -> None:
    setup = prepared.setup
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if prepared.has_namespaces:
        kernel.unshare(CHILD_NAMESPACES)
        kernel.set_hostname(HOST_NAME)
        root.mount_scratch(order.disk_bytes)
    stack_bytes = prepared.start.stack_bytes(order.driver)
    privileges.set_resource_limits(order, prepared.data_bytes, prepared.address_bytes, stack_bytes)
    privileges.give_up_privileges(setup.uid, setup.gid, prepared.changes_user)
    prepared.start.settle(setup.compute_threads)
    landlock.restrict(prepared.landlock_version, prepared.grants)
    seccomp.install_filter(prepared.filter if prepared.has_namespaces else seccomp.build_filter(os.getpid()))

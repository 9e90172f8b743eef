"""A slot's zygote: forked from the mother, it forks children, which jail themselves. It never reads a payload."""

import gc
import os
import resource
import select
import signal
import socket
import sys
import traceback
from dataclasses import dataclass
from typing import Any, Final

from graders.box.jail import child, kernel, orders, privileges, root
from graders.box.jail.child import Inherited, Prepared
from graders.box.jail.orders import ZygoteOrder

PAGE_BYTES: Final = resource.getpagesize()
CHANNEL: Final = 3


def run_zygote(inherited: Inherited, order: ZygoteOrder, descriptors: list[int]) -> None:
    """Serve the launcher until it is gone. Never returns, because the caller is the mother's program.

    `descriptors`: the launcher's socket, then the log. A failure before readiness is sent as {"fault": ...}.
    """
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        channel = _take_descriptors(*descriptors)
        try:
            _confine(inherited, order)
            prepared = _prepare(inherited, order)
        except Exception as error:
            orders.send(channel, {"fault": f"{type(error).__name__}: {error}"})
            raise
        _introduce(channel)
        _serve(channel, prepared)
        status = 0
    except BaseException:  # noqa: BLE001 - whatever it is, the operator must be able to read it
        traceback.print_exc()
    finally:
        os._exit(status)


def _introduce(channel: socket.socket) -> None:
    """Report readiness, with a pidfd so that the launcher, which is not our parent, can end this process."""
    own_handle = os.pidfd_open(os.getpid())
    orders.send(channel, {"ready": True}, [own_handle])
    os.close(own_handle)


def _take_descriptors(socket_end: int, log: int) -> socket.socket:
    """Keep the log and the socket, and close every other descriptor, the mother's included."""
    for stream in (1, 2):
        os.dup2(log, stream)
    os.dup2(socket_end, CHANNEL)
    kernel.close_from(CHANNEL + 1)
    return socket.socket(fileno=CHANNEL)


def _confine(inherited: Inherited, order: ZygoteOrder) -> None:
    if inherited.setup.profile == "P2":
        privileges.enter_user_namespace(order.uid, order.gid)
        _enter_pid_namespace()
    if inherited.setup.has_namespaces:
        kernel.unshare(kernel.CLONE_NEWNS)


def _enter_pid_namespace() -> None:
    """Go on in a child that is pid 1 of a new pid namespace.

    After each fork the zygote returns with setns, which is allowed only to a namespace that our user namespace owns.
    """
    kernel.unshare(kernel.CLONE_NEWPID)
    if os.fork():
        os._exit(0)


def _prepare(inherited: Inherited, order: ZygoteOrder) -> Prepared:
    # These are opened first, because the new root has an empty /proc.
    sizes, pid_namespace = (os.open(f"/proc/self/{name}", os.O_RDONLY) for name in ("statm", "ns/pid"))
    if inherited.setup.has_namespaces:
        root.build_root(inherited.setup.root, inherited.setup.inside)
        privileges.keep_capabilities(privileges.ZYGOTE_KEEPS, privileges.find_bounding_set())
    # The import system has cached folders of the host.
    sys.path_importer_cache.clear()
    gc.freeze()
    data_bytes, address_bytes = _measure(sizes)
    os.close(sizes)
    return Prepared(inherited, order, pid_namespace, data_bytes, address_bytes, privileges.find_bounding_set())


def _measure(sizes: int) -> tuple[int, int]:
    """(writable private bytes, address space bytes) of this process."""
    fields = os.pread(sizes, 256, 0).split()
    return int(fields[5]) * PAGE_BYTES, int(fields[0]) * PAGE_BYTES


def _serve(channel: socket.socket, prepared: Prepared) -> None:
    """Fork on request and reap dead children, until the launcher is gone."""
    children: dict[int, _Child] = {}
    while True:
        poll = select.poll()
        for descriptor in (channel.fileno(), *children):
            poll.register(descriptor, select.POLLIN)
        for descriptor, _ in poll.poll():
            if descriptor in children:
                _reap(channel, descriptor, children.pop(descriptor))
            elif (packet := orders.receive(channel)) is None:
                _end_all(children)
                return
            else:
                _answer(channel, prepared, packet, children)


@dataclass(frozen=True)
class _Child:
    serial: int
    pid: int


def _answer(
    channel: socket.socket, prepared: Prepared, packet: tuple[dict[str, Any], list[int]], children: dict[int, _Child]
) -> None:
    fields, descriptors = packet
    try:
        pid = _fork(prepared, descriptors)
        handle = os.pidfd_open(pid)
    except OSError as error:
        orders.send(channel, {"fault": str(error)})
        return
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    children[handle] = _Child(fields["serial"], pid)
    orders.send(channel, {"forked": fields["serial"]}, [handle])


def _fork(prepared: Prepared, descriptors: list[int]) -> int:
    if prepared.has_namespaces:
        kernel.unshare(kernel.CLONE_NEWPID)
    try:
        pid = os.fork()
        if pid == 0:
            child.run_child(prepared, descriptors)
        return pid
    finally:
        if prepared.has_namespaces:
            # Return to our own: the kernel refuses a second unshare while forks go to another pid namespace.
            kernel.setns(prepared.pid_namespace, kernel.CLONE_NEWPID)


def _reap(channel: socket.socket, handle: int, dead: _Child) -> None:
    os.close(handle)
    _, status, usage = os.wait4(dead.pid, 0)
    cpu_seconds = usage.ru_utime + usage.ru_stime
    orders.send(channel, {"ended": dead.serial, "status": status, "cpu_seconds": cpu_seconds})


def _end_all(children: dict[int, _Child]) -> None:
    for handle, living in children.items():
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        os.waitpid(living.pid, 0)

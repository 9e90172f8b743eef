"""The zygote: gets ready once, then forks children who jail themselves. It never reads an order or a payload."""

import importlib
import os
import resource
import select
import signal
import socket
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from graders import forking
from graders.box.jail import child, kernel, landlock, orders, privileges, root, seccomp
from graders.box.jail.child import Prepared
from graders.box.jail.orders import Setup

ENVIRONMENT: Final = {"HOME": "/tmp", "PATH": "/usr/bin", "LANG": "C.UTF-8", "TMPDIR": "/tmp"}
PAGE_BYTES: Final = resource.getpagesize()


class _Looks:
    """Views of this process in the host's /proc, opened before the root without a /proc is entered."""

    def __init__(self) -> None:
        self.tasks = os.open("/proc/self/task", os.O_RDONLY | os.O_DIRECTORY)
        self.sizes = os.open("/proc/self/statm", os.O_RDONLY)
        self.pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY)
        self.memory_map = forking.open_map()

    def count_threads(self) -> int:
        return len(os.listdir(self.tasks))  # noqa: PTH208 - a descriptor: there is no path to it in the new root

    def measure(self) -> tuple[int, int]:
        """(writable private bytes, address space bytes) of this process."""
        fields = os.pread(self.sizes, 256, 0).split()
        return int(fields[5]) * PAGE_BYTES, int(fields[0]) * PAGE_BYTES


def main(descriptor: int) -> None:
    """Serve the launcher on this socket until it closes. Failures before readiness are told as {"fault": ...}."""
    with socket.socket(fileno=descriptor) as channel:
        first = orders.receive(channel)
        if first is None:
            return
        try:
            setup = orders.read_setup(first[0])
            _confine_zygote(setup)
            looks = _Looks()
            prepared = _prepare(setup, looks)
        except Exception as error:
            orders.send(channel, {"fault": f"{type(error).__name__}: {error}"})
            raise
        orders.send(channel, {"ready": _describe(prepared)})
        _serve(channel, prepared, looks)


def _prepare(setup: Setup, looks: _Looks) -> Prepared:
    kernel.check_machine()
    sys.path[:] = [*setup.root.module_paths, *setup.root.warm_paths]
    preload = _load_start(setup.inside)
    preload.preload(setup.flavour)
    version = landlock.find_version()
    if version == 0:
        raise OSError("this kernel has no Landlock; Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK is needed")
    has_own_root = setup.profile != "P3"
    inside = root.INSIDE if has_own_root else setup.inside
    if has_own_root:
        root.build_root(setup.root, setup.inside)
        privileges.keep_capabilities(privileges.ZYGOTE_KEEPS, privileges.find_bounding_set())
    sys.path[:] = [*setup.root.module_paths, inside]
    importlib.invalidate_caches()
    start = _load_start(inside)
    start.load_drivers(setup.flavour)
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    # For the C library alone, unseen by os.environ: torch's profiler would log to the learner's stderr.
    kernel.LIBC.setenv(b"KINETO_LOG_LEVEL", b"99", 1)
    grants = root.list_grants(setup.root, has_own_root, setup.inside)
    filter_code = seccomp.build_filter(own_pid=1)
    _hide_own_modules()
    _settle_memory(looks)
    data_bytes, address_bytes = looks.measure()
    held = privileges.find_bounding_set()
    return Prepared(setup, start, version, grants, filter_code, data_bytes, address_bytes, held)


def _confine_zygote(setup: Setup) -> None:
    if setup.profile == "P2":
        privileges.enter_user_namespace(setup.uid, setup.gid)
        _enter_pid_namespace()
    if setup.profile != "P3":
        kernel.unshare(kernel.CLONE_NEWNS)


def _enter_pid_namespace() -> None:
    """Go on in a child, as pid 1 of a namespace that our user namespace owns: setns may return only to such a one."""
    kernel.unshare(kernel.CLONE_NEWPID)
    pid = os.fork()
    if pid:
        kernel.close_from(3)
        _, status = os.waitpid(pid, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    kernel.control("prctl parent death", kernel.PR_SET_PDEATHSIG, signal.SIGKILL)


def _load_start(folder: str) -> ModuleType:
    """(Re)load graders/inside/start.py as the top-level module it is inside the box."""
    sys.modules.pop("start", None)
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("start")
    finally:
        sys.path.remove(folder)


def _hide_own_modules() -> None:
    """Forget our names before the fork: looking for them in a child would copy the pages of every module's name."""
    for name in [name for name in sys.modules if name == "graders" or name.startswith("graders.")]:
        del sys.modules[name]


def _settle_memory(looks: _Looks) -> None:
    forking.rest(looks.memory_map)
    threads = looks.count_threads()
    if threads != 1:
        raise RuntimeError(f"the zygote has {threads} threads; a fork would hang every child")


def _describe(prepared: Prepared) -> dict[str, Any]:
    return {
        "python": sys.version.split()[0],
        "torch": prepared.start.torch_version(),
        "landlock": prepared.landlock_version,
        "data_bytes": prepared.data_bytes,
    }


def _serve(channel: socket.socket, prepared: Prepared, looks: _Looks) -> None:
    """Fork when asked, reap what ended, until the launcher is gone."""
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
                _answer(channel, prepared, looks, packet, children)


@dataclass(frozen=True)
class _Child:
    serial: int
    pid: int


def _answer(
    channel: socket.socket,
    prepared: Prepared,
    looks: _Looks,
    packet: tuple[dict[str, Any], list[int]],
    children: dict[int, _Child],
) -> None:
    fields, descriptors = packet
    try:
        pid = _fork(prepared, descriptors, looks)
        handle = os.pidfd_open(pid)
    except OSError as error:
        orders.send(channel, {"fault": str(error)})
        return
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    children[handle] = _Child(fields["serial"], pid)
    orders.send(channel, {"forked": fields["serial"]}, [handle])


def _fork(prepared: Prepared, descriptors: list[int], looks: _Looks) -> int:
    if prepared.has_namespaces:
        kernel.unshare(kernel.CLONE_NEWPID)
    try:
        pid = os.fork()
        if pid == 0:
            child.run_child(prepared, descriptors)
        return pid
    finally:
        if prepared.has_namespaces:
            # Back to our own: a second unshare is refused while children are bound for another namespace.
            kernel.setns(looks.pid_namespace, kernel.CLONE_NEWPID)


def _reap(channel: socket.socket, handle: int, dead: _Child) -> None:
    os.close(handle)
    _, status, usage = os.wait4(dead.pid, 0)
    cpu_seconds = usage.ru_utime + usage.ru_stime
    orders.send(channel, {"ended": dead.serial, "status": status, "cpu_seconds": cpu_seconds})


def _end_all(children: dict[int, _Child]) -> None:
    for handle, living in children.items():
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        os.waitpid(living.pid, 0)

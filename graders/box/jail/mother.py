"""The mother of a flavour's zygotes: imports once, forks one zygote per slot, and never reads a payload."""

import importlib
import os
import signal
import socket
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

from graders import prepare_for_fork
from graders.box.jail import drivers, kernel, landlock, orders, privileges, root, seccomp, zygote
from graders.box.jail.child import Inherited
from graders.box.jail.orders import Setup, ZygoteOrder

ENVIRONMENT: Final = {"HOME": "/tmp", "PATH": "/usr/bin", "LANG": "C.UTF-8", "TMPDIR": "/tmp"}


def main(descriptor: int) -> None:
    """Serve the launcher on this socket until it closes. A failure before readiness is sent as {"fault": ...}."""
    # The worker's umask may hide its files from others, but other users must be able to read the roots built here.
    os.umask(0o022)
    channel = socket.socket(fileno=descriptor)
    first = orders.receive(channel)
    if first is None:
        return
    try:
        inherited = _prepare(orders.read_setup(first[0]))
    except Exception as error:
        orders.send(channel, {"fault": f"{type(error).__name__}: {error}"})
        raise
    orders.send(channel, {"ready": {"torch": inherited.start.torch_version()}})
    _serve(channel, inherited)
    # An ordinary exit would visit every object, and so copy memory that the zygotes still share.
    os._exit(0)


def _prepare(setup: Setup) -> Inherited:
    kernel.check_machine()
    version = landlock.find_version()
    if version == 0:
        raise OSError("this kernel has no Landlock; use Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK")
    with prepare_for_fork.importing():
        start = _import(setup)
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    # Without this, torch's profiler logs to the learner's stderr. Set in C only, so os.environ does not show it.
    kernel.LIBC.setenv(b"KINETO_LOG_LEVEL", b"99", 1)
    if setup.root.has_card:
        kernel.LIBC.setenv(b"CUDA_CACHE_DISABLE", b"1", 1)
    grants = root.list_grants(setup.root, setup.has_namespaces, setup.inside)
    if setup.profile == "P1":
        held = privileges.find_bounding_set()
        privileges.keep_capabilities(tuple(one for one in privileges.MOTHER_KEEPS if one in held), held)
    _hide_own_modules()
    # Each zygote clears this again, because it enters another root. Freeing thousands of file names there would copy
    # 7 MiB of pages, and split huge pages whose small ones each of its forks would then have to copy.
    sys.path_importer_cache.clear()
    _settle_memory()
    card_grants = root.list_card_grants(setup.root, setup.has_namespaces)
    return Inherited(setup, start, version, grants, seccomp.build_filter(own_pid=1), card_grants)


def _import(setup: Setup) -> ModuleType:
    """Import all that runs will need, then the drivers, named by their paths in the root. Returns inside/start."""
    inside = root.INSIDE if setup.has_namespaces else setup.inside
    sys.path[:] = [*setup.root.module_paths, *setup.root.warm_paths]
    drivers.load_as_shown(setup.inside, inside, lambda: importlib.import_module("start"))
    start = sys.modules["start"]
    start.preload(setup.flavour)
    sys.path[:] = setup.root.module_paths
    modules = drivers.list_modules(setup.inside)
    drivers.load_as_shown(setup.inside, inside, lambda: start.load_drivers(setup.flavour, modules))
    sys.path.append(inside)
    return start


def _hide_own_modules() -> None:
    """Forget our modules before the fork; a child that searched for them would copy the pages of all module names."""
    for name in [name for name in sys.modules if name == "graders" or name.startswith("graders.")]:
        del sys.modules[name]


def _settle_memory() -> None:
    with prepare_for_fork.open_map() as memory_map:
        prepare_for_fork.rest(memory_map)
    threads = len(list(Path("/proc/self/task").iterdir()))
    if threads != 1:
        raise RuntimeError(f"the mother has {threads} threads; a fork needs exactly one, or its children can hang")
    if (torch := sys.modules.get("torch")) and torch.cuda.is_initialized():
        raise RuntimeError("an import initialised CUDA, and a process that did so cannot be forked")
    if shared := find_shared_memory(Path("/proc/self/maps").read_text()):
        raise RuntimeError(f"one run could write to this memory and all slots would read it: {shared[0]}")


def find_shared_memory(memory_map: str) -> list[str]:
    """The lines of /proc/PID/maps whose memory is shared across a fork and is, or could be made, writable.

    A named file that was opened only for reading cannot be made writable.
    """
    shared = [line for line in memory_map.splitlines() if line.split()[1].endswith("s")]
    return [line for line in shared if "w" in line.split()[1] or not _is_named_file(line.split(maxsplit=5)[5:])]


def _is_named_file(name: list[str]) -> bool:
    unnamed = ("/dev/", "/memfd:", "/SYSV", "[")
    return bool(name) and not name[0].startswith(unnamed) and not name[0].endswith("(deleted)")


def _serve(channel: socket.socket, inherited: Inherited) -> None:
    """Fork a zygote for each order, until the launcher is gone. The launcher itself notices when a zygote ends."""
    # A zygote in its own user namespace is a grandchild, and becomes our child when the process between us ends.
    kernel.control("prctl subreaper", kernel.PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that the kernel reaps them
    while (packet := orders.receive(channel)) is not None:
        fields, descriptors = packet
        order = ZygoteOrder(**fields)
        try:
            if os.fork() == 0:
                zygote.run_zygote(inherited, order, descriptors)
        except OSError as error:
            with socket.socket(fileno=os.dup(descriptors[0])) as theirs:
                orders.send(theirs, {"fault": str(error)})
        finally:
            for descriptor in descriptors:
                os.close(descriptor)

"""What the kernel says of a child in the box, against what its profile promises: less is right, more is a gap."""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from graders.box.card import Card
from graders.box.cgroups import Quota, RunGroups
from graders.box.interface import Profile
from graders.box.interpreter import plan_root
from graders.box.jail.child import SPARE_NAME
from graders.box.jail.orders import ForkOrder, RootPlan
from graders.box.profiles import count_tasks
from graders.contract.jobs import Flavour

MIB: Final = 1 << 20
SETTLE_SECONDS: Final = 5.0
NAMESPACES: Final = ("cgroup", "ipc", "mnt", "net", "pid", "uts")
CAPABILITY_SETS: Final = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
FILTERED: Final = "2"
# What a cell's driver maps for its thread, and what the zygote may have taken since it measured itself.
STACK_BYTES: Final = 512 * MIB
GROWN_BYTES: Final = 16 * MIB
SLACK_BYTES: Final = 64 * MIB
SCRATCH_INODES: Final = "1024"
SCRATCH, DEVICES, UNDER = "/tmp", "/dev/", "/under"
HIDING: Final = ("proc", "sysfs", "cgroup", "cgroup2", "devtmpfs", "devpts", "mqueue", "debugfs", "tracefs")

Namespaces = dict[str, str]


@dataclass(frozen=True)
class Confinement:
    """What the slot has ordered for the child that is looked at, and its surroundings."""

    profile: Profile
    flavour: Flavour
    uid: int
    gid: int
    zygote: int
    order: ForkOrder
    quota: Quota
    groups: RunGroups
    card: Card | None
    namespaces: Namespaces
    """Of the child, read while it waited: later, only root may look."""

    @property
    def has_namespaces(self) -> bool:
        return self.profile is not Profile.P3


def read_namespaces(process: int) -> Namespaces:
    """Kind -> identity of a process's namespaces; empty for what this process may not see."""
    found = {}
    for kind in (*NAMESPACES, "user"):
        try:
            found[kind] = str(Path(f"/proc/{process}/ns/{kind}").readlink())
        except OSError:
            found[kind] = ""
    return found


def await_spare(process: int) -> Namespaces:
    """The namespaces of a spare child once it has entered them all; it takes its name then."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while _read_status(process).get("Name") != SPARE_NAME and time.monotonic() < deadline:
        time.sleep(0.001)
    return read_namespaces(process)


def find_gaps(process: int, confinement: Confinement) -> dict[str, list[str]]:
    """What was looked at -> what is not as promised. Raises nothing: what cannot be read is a gap."""
    looks = {
        "user and groups": _look_at_user,
        "capabilities": _look_at_capabilities,
        "confinement for good": _look_at_confinement,
        "namespaces": _look_at_namespaces,
        "resource limits": _look_at_limits,
        "mounts": _look_at_mounts,
        "control groups": _look_at_groups,
    }
    gaps = {}
    for name, look in looks.items():
        try:
            gaps[name] = list(look(process, confinement))
        except (OSError, ValueError, KeyError) as error:
            gaps[name] = [f"it could not be read: {type(error).__name__}: {error}"]
    return gaps


def _read_status(process: int) -> dict[str, str]:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _look_at_user(process: int, confinement: Confinement) -> Iterator[str]:
    status = _read_status(process)
    for name, wanted in (("Uid", confinement.uid), ("Gid", confinement.gid)):
        if status[name].split() != [str(wanted)] * 4:
            yield f"{name} {status[name]}, not {wanted}"
    if confinement.uid == 0:
        yield "it is root"
    # In P2 the zygote, and the child until it is jailed, are the same user.
    own = len(list(Path(f"/proc/{process}/task").iterdir()))
    if os.geteuid() == 0 and confinement.profile is not Profile.P2 and (others := count_tasks(confinement.uid) - own):
        yield f"{others} other tasks have the user {confinement.uid}"
    # An ordinary user cannot drop groups.
    if os.geteuid() == 0 and status["Groups"]:
        yield f"groups {status['Groups']}"


def _look_at_capabilities(process: int, confinement: Confinement) -> Iterator[str]:
    status, ours = _read_status(process), _read_status(os.getpid())
    for name in CAPABILITY_SETS:
        # Without root and without a user namespace the bounding set is the worker's: worth nothing, and here to stay.
        kept = name == "CapBnd" and not confinement.has_namespaces and os.geteuid() != 0
        if int(status[name], 16) & ~(int(ours[name], 16) if kept else 0):
            yield f"{name} {status[name]}"


def _look_at_confinement(process: int, confinement: Confinement) -> Iterator[str]:
    status, ours = _read_status(process), _read_status(os.getpid())
    if status["NoNewPrivs"] != "1":
        yield "no_new_privs is off"
    if status["Seccomp"] != FILTERED:
        yield f"seccomp mode {status['Seccomp']}"
    filters, before = (int(one.get("Seccomp_filters", 0)) for one in (status, ours))
    if "Seccomp_filters" in status and filters != before + 1:
        yield f"{filters} seccomp filters, not {before + 1}"
    # The files in /proc of a process that cannot be dumped belong to root, so that its user may not look.
    if Path(f"/proc/{process}/stat").stat().st_uid == confinement.uid:
        yield "processes of its user may look into its memory"


def _look_at_namespaces(process: int, confinement: Confinement) -> Iterator[str]:
    if not confinement.has_namespaces:
        return
    ours, zygotes = read_namespaces(os.getpid()), read_namespaces(confinement.zygote)
    for kind in NAMESPACES:
        own = confinement.namespaces[kind]
        if own in ("", ours[kind], zygotes[kind]):
            yield f"no {kind} namespace of its own" if own else f"its {kind} namespace cannot be read"
    if confinement.profile is Profile.P2 and confinement.namespaces["user"] in ("", ours["user"]):
        yield "no user namespace"
    if _read_status(process)["NSpid"].split()[-1] != "1":
        yield "it is not the first process of its namespace"


def _look_at_limits(process: int, confinement: Confinement) -> Iterator[str]:
    status = _read_status(confinement.zygote)
    data_bytes, address_bytes = (int(status[name].split()[0]) << 10 for name in ("VmData", "VmSize"))
    order = confinement.order
    room = STACK_BYTES + order.memory_bytes + GROWN_BYTES
    promised = {
        "Max cpu time": order.cpu_seconds,
        "Max file size": order.disk_bytes,
        "Max data size": data_bytes + room,
        "Max address space": address_bytes + room + SLACK_BYTES,
        "Max stack size": 8 * MIB,
        "Max core file size": 0,
        "Max open files": 128,
        "Max locked memory": 0,
        "Max pending signals": 64,
        "Max msgqueue size": 0,
        "Max nice priority": 0,
        "Max realtime priority": 0,
    }
    if order.process_limit:
        promised["Max processes"] = order.process_limit
    limits = dict(_read_limits(process))
    for name, most in promised.items():
        for limit in limits[name]:
            if limit == "unlimited" or int(limit) > most:
                yield f"{name.lower()} {limit}, not {most}"


def _read_limits(process: int) -> Iterator[tuple[str, tuple[str, str]]]:
    """Name -> soft and hard."""
    for line in Path(f"/proc/{process}/limits").read_text().splitlines()[1:]:
        soft, hard = line[26:].split()[:2]
        yield line[:26].strip(), (soft, hard)


@dataclass(frozen=True)
class _Mount:
    point: str
    options: frozenset[str]
    is_shared: bool
    kind: str
    settings: dict[str, str]


def _read_mounts(process: int) -> Iterator[_Mount]:
    for line in Path(f"/proc/{process}/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        _, _, _, _, point, options, *optional = left.split()
        kind, _, settings = right.split()
        pairs = (setting.partition("=") for setting in settings.split(","))
        yield _Mount(
            point, frozenset(options.split(",")), bool(optional), kind, {name: value for name, _, value in pairs}
        )


def _look_at_mounts(process: int, confinement: Confinement) -> Iterator[str]:
    if not confinement.has_namespaces:
        return
    plan = plan_root(confinement.flavour, confinement.card if confinement.flavour is Flavour.TORCH else None)
    mounts = list(_read_mounts(process))
    for mount in mounts:
        yield from _look_at_mount(mount, plan)
    empty = {mount.point for mount in mounts if mount.kind == "tmpfs"}
    yield from (f"{path} is not hidden" for path in plan.covered if path not in empty)
    [*others, scratch] = [mount for mount in mounts if mount.point == SCRATCH]
    found = (scratch.kind, scratch.settings.get("size"), scratch.settings.get("nr_inodes"))
    promised = ("tmpfs", f"{confinement.order.disk_bytes >> 10}k", SCRATCH_INODES)
    if others or found != promised:
        yield f"{SCRATCH} is {found}, not {promised}"


def _look_at_mount(mount: _Mount, plan: RootPlan) -> Iterator[str]:
    if missing := _find_flags(mount, plan) - mount.options:
        yield f"{mount.point} is not {', '.join(sorted(missing))}"
    if mount.is_shared:
        yield f"{mount.point} is shared with other mount namespaces"
    if mount.kind in HIDING and mount.point not in _list_devices(plan):
        yield f"{mount.point} shows the host's {mount.kind}"
    if not _is_planned(mount.point, plan):
        yield f"{mount.point} is not in the plan"


def _list_devices(plan: RootPlan) -> tuple[str, ...]:
    return (*plan.devices, *(place for _, place in plan.card_nodes))


def _find_flags(mount: _Mount, plan: RootPlan) -> set[str]:
    """What such a mount must be."""
    if mount.point == SCRATCH:
        return {"nosuid", "nodev", "noexec"}
    if mount.point.startswith(DEVICES):
        return {"ro", "nosuid", "noexec"}
    empty = mount.point == "/" or mount.point.removeprefix(UNDER) in plan.covered or _shows_again(mount.point, plan)
    return {"ro", "nosuid", "nodev"} | ({"noexec"} if empty else set())


def _is_planned(point: str, plan: RootPlan) -> bool:
    planned = (*plan.readable, *plan.covered, *_list_devices(plan))
    place = point.removeprefix(UNDER)
    if point in ("/", SCRATCH) or _shows_again(point, plan):
        return True
    return any(place == one or place.startswith(one + "/") for one in planned)


def _shows_again(point: str, plan: RootPlan) -> bool:
    """An empty folder of the root, over the scratch folder, in which an interpreter under /tmp is shown again."""
    folder, _, name = point.rpartition("/")
    return folder == SCRATCH and bool(name) and any(path.startswith(point + "/") for path in plan.readable)


def _look_at_groups(process: int, confinement: Confinement) -> Iterator[str]:
    yield from confinement.groups.find_wrong(process, confinement.quota)

"""Control groups (version 1 or 2) of one run: memory and its peak, the number of tasks, the share of the CPU."""

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CPU_PERIOD_MICROSECONDS: Final = 100_000
REMOVE_SECONDS: Final = 1.0
LEAF: Final = "worker"
SWAP_FILES: Final = {1: "memory.memsw.limit_in_bytes", 2: "memory.swap.max"}
"""By version: version 1 limits memory and swap together, version 2 swap alone."""


@dataclass(frozen=True)
class Hierarchy:
    """A folder in which this process may make groups for one controller."""

    controller: str
    version: int
    folder: Path


@dataclass(frozen=True)
class Quota:
    """What a run's groups enforce. `tasks` counts threads."""

    memory_bytes: int
    tasks: int
    cpu_cores: float


def name_groups(serial: int) -> str:
    """A folder's name for one slot of this process, by which _sweep knows whether the process still lives."""
    return f"unwind-{os.getpid()}-{_read_pid_namespace()}-{serial:x}"


def find_hierarchies(name: str) -> tuple[Hierarchy, ...]:
    """The controllers that this process may use, each with a new group `name` beneath the process's own group.

    Returns none where nothing is writable: the box then works without cgroups.
    """
    found = []
    memberships = _read_memberships()
    for controller in ("memory", "pids", "cpu"):
        place = _version_one(controller, memberships) or _version_two(controller, memberships)
        if place is None:
            continue
        version, parent = place
        folder = parent / name
        _sweep(parent)
        try:
            folder.mkdir(exist_ok=True)
            if version == 2:
                _delegate(folder, controller)
        except OSError:
            with contextlib.suppress(OSError):
                folder.rmdir()
            continue
        found.append(Hierarchy(controller, version, folder))
    return tuple(found)


def remove_hierarchies(hierarchies: tuple[Hierarchy, ...]) -> None:
    for hierarchy in hierarchies:
        for leftover in hierarchy.folder.glob("run-*"):
            _remove(leftover)
        _remove(hierarchy.folder)


def _sweep(parent: Path) -> None:
    """Remove the groups of launchers that were killed. The kernel keeps a group that is still in use.

    Process numbers of another pid namespace say nothing here, and two containers may share these folders.
    """
    for leftover in parent.glob(f"unwind-*-{_read_pid_namespace()}-*"):
        pid = leftover.name.split("-")[1]
        if not Path("/proc", pid).exists():
            # Another launcher that starts at the same moment may have removed the same group.
            with contextlib.suppress(FileNotFoundError):
                remove_hierarchies((Hierarchy("", 0, leftover),))


def _read_pid_namespace() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


class RunGroups:
    """The groups of one run. They are made before the fork, the child itself joins them, and we remove them."""

    def __init__(self, hierarchies: tuple[Hierarchy, ...], name: str) -> None:
        """Raises OSError if a group cannot be made, even though this worked when the slot was opened."""
        self._folders: dict[str, tuple[int, Path]] = {}
        for hierarchy in hierarchies:
            folder = hierarchy.folder / name
            folder.mkdir(exist_ok=True)
            self._folders[hierarchy.controller] = (hierarchy.version, folder)

    def set_quota(self, quota: Quota) -> None:
        for controller, (version, folder) in self._folders.items():
            _write_quota(controller, version, folder, quota)

    @property
    def counts_tasks(self) -> bool:
        return "pids" in self._folders

    @property
    def counts_memory(self) -> bool:
        return "memory" in self._folders

    def open_process_lists(self) -> list[int]:
        """Descriptors to which a process writes 0 to join. The caller closes them."""
        return [os.open(folder / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC) for folder in self._places()]

    def read_peak_memory_bytes(self) -> int | None:
        return self._read_memory_file("memory.max_usage_in_bytes", "memory.peak")  # the latter came with Linux 5.19

    def read_memory_bytes(self) -> int | None:
        return self._read_memory_file("memory.usage_in_bytes", "memory.current")

    def _read_memory_file(self, version_one: str, version_two: str) -> int | None:
        if "memory" not in self._folders:
            return None
        version, folder = self._folders["memory"]
        try:
            return int((folder / (version_one if version == 1 else version_two)).read_text())
        except (OSError, ValueError):
            return None

    def count_memory_kills(self) -> int:
        if "memory" not in self._folders:
            return 0
        version, folder = self._folders["memory"]
        text = (folder / ("memory.oom_control" if version == 1 else "memory.events")).read_text()
        fields = dict(line.split() for line in text.splitlines() if len(line.split()) == 2)
        return int(fields.get("oom_kill", 0))

    def find_wrong(self, process: int, quota: Quota) -> Iterator[str]:
        """What these groups do not enforce of `quota` upon this process."""
        for controller, (version, folder) in self._folders.items():
            if str(process) not in (folder / "cgroup.procs").read_text().split():
                yield f"it is not in its {controller} group"
            for name, value in _find_settings(controller, version, folder, quota).items():
                if (said := (folder / name).read_text().strip()) != value:
                    yield f"{name} {said}, not {value}"

    def remove(self) -> None:
        for folder in self._places():
            _remove(folder)

    def _places(self) -> list[Path]:
        return list(dict.fromkeys(folder for _, folder in self._folders.values()))


def _read_memberships() -> dict[str, str]:
    """Controller -> the path of this process's group; version 2 has the key ""."""
    memberships = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            memberships[controller] = path
    return memberships


def _mounts() -> list[tuple[str, str, str, list[str]]]:
    """(root inside the file system, mount point, type, options) of the cgroup mounts."""
    mounts = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, right = line.split(" - ", 1)
        kind, _, options = right.split(" ", 2)
        if kind in ("cgroup", "cgroup2"):
            fields = left.split()
            mounts.append((fields[3], fields[4], kind, options.split(",")))
    return mounts


def _version_one(controller: str, memberships: dict[str, str]) -> tuple[int, Path] | None:
    for root, point, kind, options in _mounts():
        if kind == "cgroup" and controller in options and controller in memberships:
            return 1, _place(root, point, memberships[controller])
    return None


def _version_two(controller: str, memberships: dict[str, str]) -> tuple[int, Path] | None:
    for root, point, kind, _ in _mounts():
        if kind == "cgroup2" and "" in memberships:
            parent = share_out(_place(root, point, memberships[""]), controller)
            return None if parent is None else (2, parent)
    return None


def share_out(own: Path, controller: str) -> Path | None:
    """The version 2 group beneath which our groups can use this controller; None where there is none.

    A group that has processes cannot enable controllers for its children, unless it is the root. So a worker that
    is alone in its group, as in a service or a container, moves into a leaf beneath it. Otherwise our groups become
    siblings of the worker's group.
    """
    if own.name == LEAF:
        own = own.parent  # another slot of this process has already moved it into the leaf
    if controller in _read_words(own / "cgroup.subtree_control"):
        return own
    is_root = not (own / "cgroup.type").exists()
    if controller in _read_words(own / "cgroup.controllers"):
        may = is_root or (_is_alone(own) and _step_down(own))
        if may and _enable(own, controller):
            return own
    if is_root:
        return None
    shared = controller in _read_words(own.parent / "cgroup.subtree_control")
    return own.parent if shared or _enable(own.parent, controller) else None


def _is_alone(group: Path) -> bool:
    """Whether it holds only this process and its descendants; a process of another pid namespace shows as 0."""
    return all(_descends_from_us(int(pid)) for pid in _read_words(group / "cgroup.procs"))


def _descends_from_us(pid: int) -> bool:
    while pid > 0 and pid != os.getpid():
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return True  # it ended meanwhile
    return pid > 0


def _step_down(group: Path) -> bool:
    """Move this process and its descendants into a leaf beneath their group; False if that is not allowed."""
    leaf = group / LEAF
    try:
        leaf.mkdir(exist_ok=True)
        for pid in _read_words(group / "cgroup.procs"):
            with contextlib.suppress(ProcessLookupError):
                (leaf / "cgroup.procs").write_text(pid)
    except OSError:
        return False
    return True


def _enable(group: Path, controller: str) -> bool:
    control = group / "cgroup.subtree_control"
    try:
        # Not write_text, which would create a file where no group exists.
        with control.open("r+") as file:
            file.write(f"+{controller}")
    except OSError:
        return False
    return True


def _read_words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


def _delegate(folder: Path, controller: str) -> None:
    (folder / "cgroup.subtree_control").write_text(f"+{controller}")


def _place(root: str, point: str, membership: str) -> Path:
    inner = membership.removeprefix(root.rstrip("/"))
    place = Path(point + inner)
    return place if place.is_dir() else Path(point)


def _write_quota(controller: str, version: int, folder: Path, quota: Quota) -> None:
    for name, value in _find_settings(controller, version, folder, quota).items():
        (folder / name).write_text(value)


def _find_settings(controller: str, version: int, folder: Path, quota: Quota) -> dict[str, str]:
    """The files of a group in which a controller's part of the quota is written, in this order."""
    cpu_microseconds = int(quota.cpu_cores * CPU_PERIOD_MICROSECONDS)
    settings: dict[tuple[str, int], dict[str, str]] = {
        ("memory", 1): {"memory.limit_in_bytes": str(quota.memory_bytes), SWAP_FILES[1]: str(quota.memory_bytes)},
        ("memory", 2): {"memory.max": str(quota.memory_bytes), SWAP_FILES[2]: "0"},
        ("pids", 1): {"pids.max": str(quota.tasks)},
        ("pids", 2): {"pids.max": str(quota.tasks)},
        ("cpu", 1): {"cpu.cfs_quota_us": str(cpu_microseconds)},
        ("cpu", 2): {"cpu.max": f"{cpu_microseconds} {CPU_PERIOD_MICROSECONDS}"},
    }
    own = settings[controller, version]
    # Only a kernel that counts swap has the file, and only there is swap to be forbidden.
    return {name: value for name, value in own.items() if name not in SWAP_FILES.values() or (folder / name).exists()}


def _remove(folder: Path) -> None:
    """Try until the kernel allows it: a group becomes empty a moment after its last process died."""
    deadline = time.monotonic() + REMOVE_SECONDS
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                return
            time.sleep(0.002)
        else:
            return

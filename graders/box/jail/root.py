"""The root that learner code sees: a small read-only tree: the interpreter, three devices and an empty /proc."""

import os
from pathlib import Path
from typing import Final

from graders.box.jail import kernel, landlock
from graders.box.jail.landlock import Grant
from graders.box.jail.orders import RootPlan

INSIDE: Final = "/inside"
SCRATCH: Final = "/tmp"
# An interpreter under /tmp is bound here too, because the child's own /tmp would hide it.
UNDER: Final = "/under"
# The root is built over this folder: it always exists, and only our own mount namespace sees it covered.
MOUNT_POINT: Final = "/proc"
EMPTY_PLACES: Final = ("proc", "tmp", "dev", "inside")
SCRATCH_INODES: Final = 1024

READ_ONLY: Final = kernel.MS_RDONLY | kernel.MS_NOSUID
# The relatime flag as statvfs returns it, and as mount takes it.
STATVFS_RELATIME, MS_RELATIME = 4096, 1 << 21
STATVFS_SAME: Final = READ_ONLY | kernel.MS_NODEV | kernel.MS_NOEXEC | 1024 | 2048


def build_root(plan: RootPlan, inside: str) -> None:
    """Build the tree in our own mount namespace and make it the root; the host's tree is then out of reach."""
    mount_point = MOUNT_POINT
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("box", mount_point, "tmpfs", kernel.MS_NOSUID, "mode=755,size=4m,nr_inodes=4096")
    for name in EMPTY_PLACES:
        Path(mount_point, name).mkdir(0o755)
    # Sorted, because a parent must be mounted before its contents.
    for path in sorted({*plan.readable, *plan.covered}):
        for place in _places(path):
            _show(path, mount_point + place, covered=plan.covered)
    for source, place in (*((device, device) for device in plan.devices), *plan.card_nodes):
        _bind(source, mount_point + place, device=True)
    for path, target in plan.links:
        if not os.path.lexists(mount_point + path):
            Path(mount_point + path).symlink_to(target)
    _copy_drivers(inside, mount_point + INSIDE)
    for path, text in plan.written:
        Path(mount_point + path).parent.mkdir(0o755, parents=True, exist_ok=True)
        Path(mount_point + path).write_text(text)
    _make_read_only([mount_point + place for path in plan.covered for place in _places(path)])
    kernel.pivot_into(mount_point)
    _remount("/", READ_ONLY | kernel.MS_NODEV | kernel.MS_NOEXEC)


def _places(path: str) -> tuple[str, ...]:
    return (path, UNDER + path) if path.startswith(SCRATCH + "/") else (path,)


def _show(path: str, target: str, covered: tuple[str, ...]) -> None:
    if path in covered:
        kernel.mount("empty", target, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=755,size=1m,nr_inodes=4096")
    else:
        _bind(path, target)


def _bind(source: str, target: str, device: bool = False) -> None:
    if Path(source).is_dir():
        os.makedirs(target, 0o755, exist_ok=True)
    else:
        Path(target).parent.mkdir(0o755, parents=True, exist_ok=True)
        Path(target).touch(0o644)
    # Recursive, because a user namespace may not bind a folder without the mounts inside it.
    kernel.mount(source, target, "", kernel.MS_BIND | kernel.MS_REC)
    _remount(target, READ_ONLY | (kernel.MS_NOEXEC if device else kernel.MS_NODEV))


def _remount(target: str, flags: int) -> None:
    # A user namespace may not clear the flags that the source already had, so keep them all.
    had = os.statvfs(target).f_flag
    kept = had & STATVFS_SAME | (MS_RELATIME if had & STATVFS_RELATIME else 0)
    if flags & kernel.MS_NODEV == 0:
        kept &= ~kernel.MS_NODEV
    kernel.mount("", target, "", kernel.MS_REMOUNT | kernel.MS_BIND | flags | kept)


def _make_read_only(paths: list[str]) -> None:
    for path in paths:
        _remount(path, READ_ONLY | kernel.MS_NODEV | kernel.MS_NOEXEC)


def _copy_drivers(source: str, target: str) -> None:
    # Copies, because a bind mount would also show any other file that is put into this folder.
    for path in sorted(Path(source).rglob("*.py")):
        place = Path(target) / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())


def mount_scratch(disk_bytes: int) -> None:
    """Give the child its own /tmp, which disappears with its mount namespace."""
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("scratch", SCRATCH, "tmpfs", flags, f"mode=1777,size={disk_bytes},nr_inodes={SCRATCH_INODES}")
    hidden = Path(UNDER + SCRATCH)
    for folder in sorted(hidden.iterdir()) if hidden.is_dir() else []:
        place = Path(SCRATCH, folder.name)
        place.mkdir(0o755)
        kernel.mount(str(folder), str(place), "", kernel.MS_BIND | kernel.MS_REC)
    os.chdir(SCRATCH)


def list_grants(plan: RootPlan, has_own_root: bool, inside: str) -> list[Grant]:
    """What Landlock allows: the same plan once more, so that it holds even if the root showed the whole host.

    The card's nodes are not in it: see `list_card_grants`.
    """
    readable = plan.readable if has_own_root else _without_covered(plan)
    grants = [landlock.grant_reading(path) for path in readable]
    grants += [Grant(path, landlock.READ_DIR) for path in plan.listed]
    grants += [Grant(path, landlock.READ_FILE | landlock.WRITE_FILE) for path in plan.devices if path == "/dev/null"]
    grants += [Grant(path, landlock.READ_FILE) for path in plan.devices if path != "/dev/null"]
    grants.append(Grant(INSIDE if has_own_root else inside, landlock.READ))
    if has_own_root:
        grants.append(Grant(SCRATCH, landlock.SCRATCH))
    return grants


def list_card_grants(plan: RootPlan, has_own_root: bool) -> list[Grant]:
    """What Landlock allows besides to a run that asked for the card."""
    rights = landlock.READ_FILE | landlock.WRITE_FILE | landlock.IOCTL_DEV
    nodes = [Grant(place if has_own_root else source, rights) for source, place in plan.card_nodes]
    return nodes + [Grant(path, landlock.READ_FILE) for path, _ in plan.written]


def _without_covered(plan: RootPlan) -> list[str]:
    # Landlock can only allow, so without mounts a folder with a covered entry is granted entry by entry.
    paths: list[str] = []
    for path in plan.readable:
        if any(covered.startswith(path + "/") for covered in plan.covered):
            paths += [str(entry) for entry in Path(path).iterdir() if str(entry) not in plan.covered]
        else:
            paths.append(path)
    return paths

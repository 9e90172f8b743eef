"""Layers of the box, each with the lines that take it away, and those whose absence the self-test does not see."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from graders.box.jail import seccomp


@dataclass(frozen=True)
class Ablation:
    """`mother` runs in front of the mother's program, `launcher` in the process that opens the slot."""

    name: str
    mother: str = ""
    launcher: str = ""
    profile: str = "P1"
    slots: int = 1
    is_daily: bool = False
    """Tried with every run of the tests; the others, nightly."""

    @property
    def id(self) -> str:
        return f"{self.name} ({self.profile})"


JAIL = "from graders.box.jail import bpf, child, kernel, landlock, mother, privileges, root, seccomp, zygote\n"
JAIL += "import resource\n"
WITHOUT_FLAG = "real_unshare = kernel.unshare\nkernel.unshare = lambda flags: real_unshare(flags & ~({flag}))\n"
WITHOUT_HOST_NAME = "kernel.set_hostname = lambda name: None\n"
WITHOUT_CONTROL = """
real_control = kernel.control
kernel.control = lambda name, option, *values: 0 if option == {option} else real_control(name, option, *values)
"""
WITHOUT_LIMIT = """
real_limit = resource.setrlimit
resource.setrlimit = lambda kind, pair: None if kind == resource.RLIMIT_{name} else real_limit(kind, pair)
"""
WITHOUT_REMOUNT_FLAG = """
real_remount = root._remount
root._remount = lambda target, flags: real_remount(target, flags & ~kernel.MS_{flag})
"""
OTHER_SCRATCH = """
real_mount = kernel.mount
def mount(source, target, kind, flags, options=""):
    if (target, kind) == ("/tmp", "tmpfs"):
        flags, options = {flags}, {options}
    real_mount(source, target, kind, flags, options)
kernel.mount = mount
"""
WITHOUT_RIGHTS = """
import ctypes, struct
real_call = kernel.call
def call(name, number, *arguments):
    if number == kernel.SYS_LANDLOCK_CREATE and arguments[1]:
        fields = struct.unpack(f"<{{arguments[1] // 8}}Q", ctypes.string_at(arguments[0], arguments[1]))
        kept = [field & ~hidden for field, hidden in zip(fields, {hidden})]
        arguments = (ctypes.c_char_p(struct.pack(f"<{{len(kept)}}Q", *kept)), *arguments[1:])
    if number == kernel.SYS_LANDLOCK_ADD:
        rights, descriptor = struct.unpack("<Qi", ctypes.string_at(arguments[2], 12))
        if not rights & ~{hidden}[0]:
            return 0
        rule = ctypes.c_char_p(struct.pack("<Qi", rights & ~{hidden}[0], descriptor))
        arguments = (*arguments[:2], rule, *arguments[3:])
    return real_call(name, number, *arguments)
kernel.call = call
"""
OPEN_RULE = """
real_rules = seccomp._ruled
seccomp._ruled = lambda own_pid: {{**real_rules(own_pid), {name!r}: [seccomp._allow()]}}
"""
OTHER_PROGRAM = """
real_assemble = bpf.assemble
bpf.assemble = lambda program: real_assemble({changed})
"""
WITHOUT_SETTING = """
from graders.box import cgroups
def write(controller, version, folder, quota):
    for name, value in cgroups._find_settings(controller, version, folder, quota).items():
        if not name.startswith({names}):
            (folder / name).write_text(value)
cgroups._write_quota = write
"""
CHANGED_START = """
real_import = mother._import
def import_start(setup):
    start = real_import(setup)
    {change}
    return start
mother._import = import_start
"""
NO_SEED = "type('NoSeed', (), {'seed': staticmethod(lambda *seed: None)})"

NAMESPACES = ("NEWNS", "NEWIPC", "NEWUTS", "NEWCGROUP", "NEWNET")
LIMITS = (
    "CPU", "DATA", "AS", "FSIZE", "NOFILE", "STACK", "CORE", "MEMLOCK", "MSGQUEUE", "NICE", "RTPRIO", "SIGPENDING",
)  # fmt: skip
FILE_RIGHTS = (
    "execute", "write file", "read file", "read folder", "remove folder", "remove file", "make character device",
    "make folder", "make file", "make socket", "make pipe", "make block device", "make symbolic link", "refer",
    "truncate", "ioctl of devices",
)  # fmt: skip
# A few of those that the list lacks, each opened alone; test_other_calls.py opens every one.
CALLS = {
    "fork": 57,
    "execve": 59,
    "socket": 41,
    "ptrace": 101,
    "chmod": 90,
    "mount": 165,
    "io_uring_setup": 425,
    "bpf": 321,
}


def list_ablations() -> tuple[Ablation, ...]:
    return (
        *_namespaces(), *_roots(), *_users(), *_limits(), *_landlock(), *_seccomp(), *_groups(), *_watchers(),
    )  # fmt: skip


def _namespaces() -> Iterator[Ablation]:
    for profile in ("P1", "P2"):
        for flag in NAMESPACES:
            lines = f"child.CHILD_NAMESPACES &= ~kernel.CLONE_{flag}\n"
            lines += WITHOUT_HOST_NAME if flag == "NEWUTS" else ""
            yield Ablation(f"namespace {flag}", lines, profile=profile, is_daily=flag == "NEWIPC")
        yield Ablation("namespace NEWPID", WITHOUT_FLAG.format(flag="kernel.CLONE_NEWPID"), profile=profile)
        everything = "child.CHILD_NAMESPACES = 0\n" + WITHOUT_HOST_NAME
        yield Ablation("all namespaces of the child", everything, profile=profile, is_daily=profile == "P1")
    kept = "real_unshare = kernel.unshare\n"
    kept += "kernel.unshare = lambda flags: None if flags == kernel.CLONE_NEWNS else real_unshare(flags)\n"
    yield Ablation("mount namespace of the zygote", kept)
    yield Ablation("user namespace", WITHOUT_FLAG.format(flag="kernel.CLONE_NEWUSER"), profile="P2")


def _roots() -> Iterator[Ablation]:
    yield Ablation("own root", "root.build_root = lambda plan, inside: None\n", is_daily=True)
    yield Ablation("the old root is gone", "kernel.detach = lambda target: None\n")
    private = "real_mount = kernel.mount\n"
    private += "kernel.mount = lambda *given: given[3] & kernel.MS_PRIVATE or real_mount(*given)\n"
    yield Ablation("private mounts", private)
    for flag in ("RDONLY", "NOSUID", "NODEV", "NOEXEC"):
        yield Ablation(
            f"{flag} of the root's mounts", WITHOUT_REMOUNT_FLAG.format(flag=flag), is_daily=flag == "NOSUID"
        )
    uncovered = "import dataclasses\nreal_build = root.build_root\n"
    uncovered += "root.build_root = lambda plan, inside: real_build(dataclasses.replace(plan, covered=()), inside)\n"
    yield Ablation("hidden folders", uncovered)
    for flag in ("NOSUID", "NODEV", "NOEXEC"):
        changed = OTHER_SCRATCH.format(flags=f"flags & ~kernel.MS_{flag}", options="options")
        yield Ablation(f"{flag} of the scratch folder", changed)
    for part in ("size", "nr_inodes"):
        smaller = f"','.join(one for one in options.split(',') if not one.startswith('{part}'))"
        yield Ablation(f"{part} of the scratch folder", OTHER_SCRATCH.format(flags="flags", options=smaller))
    yield Ablation("own scratch folder", "root.mount_scratch = lambda disk_bytes: None\n")
    leaking = "import os\nreal_close = kernel.close_from\n"
    leaking += "kernel.close_from = lambda lowest: (real_close(lowest), os.dup2(2, 60))\n"
    yield Ablation("closed descriptors", leaking)
    yield Ablation("clean environment", "mother.ENVIRONMENT = {**mother.ENVIRONMENT, 'SECRET': 'of the worker'}\n")


def _users() -> Iterator[Ablation]:
    yield Ablation("change of user", "privileges.become = lambda uid, gid: None\n")
    become = "import os\ndef become(uid, gid):\n    {lines}\nprivileges.become = become\n"
    yield Ablation(
        "groups", become.format(lines="os.setresgid(gid, gid, gid); os.setresuid(uid, uid, uid)"), is_daily=True
    )
    yield Ablation("group", become.format(lines="os.setgroups([]); os.setresuid(uid, uid, uid)"))
    yield Ablation(
        "saved group", become.format(lines="os.setgroups([]); os.setresgid(gid, gid, 0); os.setresuid(uid, uid, uid)")
    )
    yield Ablation(
        "saved user", become.format(lines="os.setgroups([]); os.setresgid(gid, gid, gid); os.setresuid(uid, uid, 0)")
    )
    shared = "from graders.box import slot\nslot.choose_uid = lambda: 1890000000\n"
    yield Ablation("user of its own for each slot", launcher=shared, slots=2)
    for profile in ("P1", "P2", "P3"):
        unheld = "privileges.hold_capabilities = lambda held: None\n"
        yield Ablation("dropped capabilities", unheld, profile=profile)
        yield Ablation(
            "bounding set",
            "privileges.drop_from_bounding_set = lambda capabilities: None\n",
            profile=profile,
            is_daily=profile == "P1",
        )
        yield Ablation("not dumpable", WITHOUT_CONTROL.format(option="kernel.PR_SET_DUMPABLE"), profile=profile)
        yield Ablation("no_new_privs", WITHOUT_CONTROL.format(option="kernel.PR_SET_NO_NEW_PRIVS"), profile=profile)
        death = WITHOUT_CONTROL.format(option="kernel.PR_SET_PDEATHSIG")
        yield Ablation("parent death signal", death, profile=profile, is_daily=profile == "P1")


def _limits() -> Iterator[Ablation]:
    for name in LIMITS:
        yield Ablation(f"RLIMIT_{name}", WITHOUT_LIMIT.format(name=name), is_daily=name == "AS")
    no_groups = "from graders.box import cgroups\ncgroups.find_hierarchies = lambda name: ()\n"
    yield Ablation("RLIMIT_NPROC", WITHOUT_LIMIT.format(name="NPROC"), no_groups)
    soft = "real_limit = resource.setrlimit\n"
    soft += "resource.setrlimit = lambda kind, pair: real_limit(kind, (pair[0], resource.getrlimit(kind)[1]))\n"
    yield Ablation("hard limits", soft)
    yield Ablation("narrow slack of RLIMIT_AS", "privileges.ADDRESS_SLACK_BYTES = 1 << 30\n", is_daily=True)


def _landlock() -> Iterator[Ablation]:
    for profile in ("P1", "P3"):
        yield Ablation(
            "Landlock",
            "landlock.restrict = lambda version, grants: None\n",
            profile=profile,
            is_daily=profile == "P1",
        )
        for bit, name in enumerate(FILE_RIGHTS):
            hidden = WITHOUT_RIGHTS.format(hidden=f"({1 << bit}, 0, 0)")
            yield Ablation(
                f"Landlock: {name}", hidden, profile=profile, is_daily=(name, profile) == ("make folder", "P3")
            )
        yield Ablation("Landlock: net", WITHOUT_RIGHTS.format(hidden="(0, 3, 0)"), profile=profile)
        yield Ablation("Landlock: scope", WITHOUT_RIGHTS.format(hidden="(0, 0, 3)"), profile=profile)


def _seccomp() -> Iterator[Ablation]:
    yield Ablation("seccomp", "seccomp.install_filter = lambda code: None\n", is_daily=True)
    yield Ablation("seccomp", "seccomp.install_filter = lambda code: None\n", profile="P3")
    for name in seccomp.RULED:
        yield Ablation(f"seccomp: rule of {name}", OPEN_RULE.format(name=name), is_daily=name == "madvise")
    yield Ablation("seccomp: architecture", OTHER_PROGRAM.format(changed="program[3:]"))
    yield Ablation("seccomp: x32 table", OTHER_PROGRAM.format(changed="program[:5] + program[7:]"))
    yield Ablation("seccomp: refusal", OTHER_PROGRAM.format(changed="[*program[:-1], seccomp._allow()]"))
    for name, number in CALLS.items():
        yield Ablation(f"seccomp: {name}", f"seccomp.PLAIN[{name!r}] = {number}\n", is_daily=name == "fork")


def _groups() -> Iterator[Ablation]:
    yield Ablation("joining control groups", "child._join_cgroups = lambda process_lists: None\n")
    yield Ablation(
        "memory group", launcher=WITHOUT_SETTING.format(names="('memory.limit', 'memory.max', 'memory.memsw')")
    )
    yield Ablation("swap", launcher=WITHOUT_SETTING.format(names="('memory.memsw', 'memory.swap')"))
    yield Ablation("pids group", launcher=WITHOUT_SETTING.format(names="'pids'"), is_daily=True)
    yield Ablation("cpu group", launcher=WITHOUT_SETTING.format(names="'cpu'"))


def _watchers() -> Iterator[Ablation]:
    yield Ablation(
        "watch of CPU time",
        launcher="from graders.box import run\nrun._CpuClock.read_seconds = lambda clock: 0.0\n",
        is_daily=True,
    )
    yield Ablation(
        "watch of wall time",
        launcher="from graders.box import run\nrun.extend_wall_limit = lambda limit, waited: 1e9\n",
    )
    yield Ablation(
        "cap on output",
        launcher="from graders.box import run\nrun._Output.take = lambda output, stream, piece: True\n",
    )
    unseen = "from graders.box import cgroups, run\ncgroups.find_hierarchies = lambda name: ()\n"
    unseen += "run.ResidentMemory.read_growth_bytes = lambda resident: 0\n"
    yield Ablation("watch of memory, without a group", launcher=unseen)
    yield Ablation("new seeds of random", CHANGED_START.format(change=f"start.random = {NO_SEED}"))
    yield Ablation(
        "new seeds of numpy",
        CHANGED_START.format(change="start.sys.modules['numpy.random'].seed = lambda seed: None"),
    )
    yield Ablation("all new seeds", CHANGED_START.format(change="start.os.urandom = bytes"), is_daily=True)


SECCOMP_REFUSES: Final = "seccomp refuses every call that needs it; test_landlock.py proves the right by itself"
READ_ONLY: Final = "in P1 nothing but the scratch folder can be written; P3 proves the right, by the same code"
UNNOTICED: Final[dict[str, str]] = {
    "dropped capabilities (P1)": "the kernel takes them from a process that stops being root; P2 proves the call",
    "dropped capabilities (P3)": "as in P1; an ordinary user's worker has none to drop",
    "not dumpable (P1)": "the kernel takes this from a process that changes its user; P2 proves the call",
    "not dumpable (P3)": "as in P1",
    "parent death signal (P2)": "the zygote is the first process of its namespace: the kernel ends the rest with it",
    "new seeds of random (P1)": "Python seeds its generator after every fork by itself",
    "Landlock: read file (P1)": "every file of the root may be read; P3 proves the right, by the same code",
    "Landlock: make file (P3)": "who makes a file opens it, which needs the right to read or to write as well",
    "Landlock: refer (P3)": "a rename between folders needs the rights to remove and to make as well",
    "Landlock: truncate (P3)": "a file that is opened to be cut needs the right to write; truncate is refused",
    **{f"Landlock: {name} (P1)": READ_ONLY for name in (
        "remove folder", "remove file", "make folder", "make file", "make symbolic link", "refer", "truncate",
    )},
    **{f"Landlock: {name} ({profile})": SECCOMP_REFUSES for profile in ("P1", "P3") for name in (
        "execute", "make character device", "make socket", "make pipe", "make block device", "ioctl of devices",
        "net", "scope",
    )},
}  # fmt: skip
"""Id of an ablation -> why the self-test cannot see it, and what stands in for it."""
ZERO_ANYWAY: Final = ("RLIMIT_NICE", "RLIMIT_RTPRIO")
"""Limits that hosts set to 0 for everybody, and that not every root may raise."""

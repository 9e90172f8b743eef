"""The container's seccomp profile lets the box be made, whole, and nothing that no grader needs."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from graders.box.jail import seccomp

REPOSITORY = Path(__file__).resolve().parents[3]
PROFILE: dict[str, Any] = json.loads((REPOSITORY / "graders/box/container-seccomp.json").read_text())
RULES: list[dict[str, Any]] = PROFILE["syscalls"]
WITHOUT_CONDITION = {
    name for rule in RULES if rule["action"] == "SCMP_ACT_ALLOW" and "args" not in rule for name in rule["names"]
}

MAKES_THE_BOX = {
    "unshare",
    "setns",
    "mount",
    "umount2",
    "pivot_root",
    "sethostname",
    "seccomp",
    "capset",
    "landlock_restrict_self",
}
NO_GRADERS_BUSINESS = {
    "bpf", "ptrace", "keyctl", "add_key", "request_key", "init_module", "finit_module", "delete_module",
    "kexec_load", "kexec_file_load", "open_by_handle_at", "perf_event_open", "userfaultfd", "io_uring_setup",
    "io_uring_enter", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "personality",
    "reboot", "swapon", "acct", "settimeofday", "clock_settime", "adjtimex", "iopl", "ioperm", "modify_ldt",
    "mknod", "mknodat", "chroot", "quotactl", "name_to_handle_at", "fanotify_init", "syslog", "vmsplice", "kcmp",
    "lookup_dcookie", "move_pages", "migrate_pages", "fsopen", "fsmount", "move_mount", "open_tree",
    "mount_setattr", "setxattr", "uselib", "vhangup", "setdomainname",
}  # fmt: skip


def test_whatever_is_not_listed_is_refused() -> None:
    assert (PROFILE["defaultAction"], PROFILE["architectures"]) == ("SCMP_ACT_ERRNO", ["SCMP_ARCH_X86_64"])


def test_what_learners_may_do_and_what_makes_their_box_is_allowed() -> None:
    assert (set(seccomp.PLAIN) | set(seccomp.RULED) - {"clone3"} | MAKES_THE_BOX) - WITHOUT_CONDITION == set()


def test_what_no_grader_needs_is_not() -> None:
    assert {name for rule in RULES for name in rule["names"]} & NO_GRADERS_BUSINESS == set()


def test_a_call_stands_once_and_in_order() -> None:
    plain = [rule["names"] for rule in RULES if "args" not in rule]
    names = [name for rule in plain for name in rule]

    assert len(names) == len(set(names))
    assert [rule for rule in plain if rule != sorted(rule)] == []


def test_sockets_are_local_or_of_the_internet() -> None:
    """A network namespace holds those; it does not hold vsock, which reaches the host of a virtual machine."""
    families = [rule["args"] for rule in RULES if rule["names"] == ["socket"]]

    assert families == [[{"index": 0, "value": number, "op": "SCMP_CMP_EQ"}] for number in (1, 2, 10)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["comment"][:40])
def test_every_rule_says_why(rule: dict[str, Any]) -> None:
    assert rule["comment"]


def test_the_second_compose_file_gives_the_grader_its_own_control_groups_and_changes_nothing_else() -> None:
    added = yaml.safe_load((REPOSITORY / "docker-compose.memory.yml").read_text())

    assert added["services"] == {"grader": {"security_opt": ["writable-cgroups=true"]}}
